/** Finds schemathesis, which makes requests up from an OpenAPI document and holds the answers against it; or installs it. */

import { join } from "node:path";
import { succeeds } from "../../support/succeeds.ts";

/** Versions that the run is known to work with. */
const PACKAGES = ["schemathesis==4.32.5", "msgpack==1.2.4"];

const ENVIRONMENT = join(import.meta.dir, "../../../node_modules/.cache/warmpath-schemathesis");

/** Of one run; no request is answered later than that. */
const RUN_TIMEOUT_MS = 45_000;

/** The command; null when it is not there and cannot be installed. */
export async function findSchemathesis(): Promise<string | null> {
  const command = join(ENVIRONMENT, "bin/st");
  if (await succeeds(command, "--version")) return command;
  const isMade =
    (await succeeds("python3", "-m", "venv", ENVIRONMENT)) &&
    (await succeeds(join(ENVIRONMENT, "bin/python3"), "-m", "pip", "install", "--quiet", "--retries", "1", ...PACKAGES));
  return isMade && (await succeeds(command, "--version")) ? command : null;
}

export interface FuzzRun {
  exitCode: number;
  report: string;
}

/** Runs it against the document of the service at `url`, with so many cases of each operation and kind. */
export async function fuzz(command: string, url: string, casesPerOperation: number): Promise<FuzzRun> {
  const process = Bun.spawn(
    [
      command,
      `--config-file=${join(import.meta.dir, "schemathesis.toml")}`,
      "run",
      `${url}/openapi/json`,
      "--phases=examples,coverage,fuzzing,stateful",
      `--max-examples=${casesPerOperation}`,
      "--continue-on-failure",
      "--suppress-health-check=all",
      "--request-timeout=10",
      "--generation-database=none",
      "--no-color",
    ],
    {
      // Where it leaves what it remembers of its runs.
      cwd: ENVIRONMENT,
      env: { ...Bun.env, PYTHONPATH: import.meta.dir, PYTHONDONTWRITEBYTECODE: "1", SCHEMATHESIS_HOOKS: "fuzz_hooks" },
      stdout: "pipe",
      stderr: "pipe",
      timeout: RUN_TIMEOUT_MS,
    },
  );
  const [out, err, exitCode] = await Promise.all([process.stdout.text(), process.stderr.text(), process.exited]);
  return { exitCode, report: out + err };
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { version } from "../../package.json" with { type: "json" };
import { startWarmpath, type WarmpathProcess } from "./warmpath-process.ts";

const MAIN = new URL("../../src/main.ts", import.meta.url).pathname;

/** Long enough for two draws. */
const WATCHED_MS = 1500;

const SLOW_TEST_MS = 20_000;

let warmpath: WarmpathProcess;
let environment: Record<string, string>;

beforeAll(async () => {
  warmpath = startWarmpath(["--load-balance-policy=RR", "--internal-api-token=secret"]);
  const url = `http://127.0.0.1:${await warmpath.port}`;
  const name = "10.0.0.5:8000";
  await fetch(`${url}/v1/instances`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-internal-token": "secret" },
    body: JSON.stringify({ name, engine: "vllm" }),
  });
  environment = { ...(Bun.env as Record<string, string>), WARMPATH_URL: url, TERM: "xterm", NO_COLOR: "" };
});

afterAll(async () => {
  warmpath.signal("SIGTERM");
  await warmpath.exitCode;
});

async function run(args: string[], added: Record<string, string> = {}) {
  const { stdout, stderr, exited } = Bun.spawn([process.execPath, MAIN, ...args], {
    env: { ...environment, ...added },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, complaints, code] = await Promise.all([stdout.text(), stderr.text(), exited]);
  return { code, output, complaints };
}

/** The same on a terminal of 60 columns; SIGINT ends it after a while. */
async function runOnTerminal(args: string[], added: Record<string, string> = {}, interruptAfterMs: number | null = null) {
  let output = "";
  const decoder = new TextDecoder();
  const command = Bun.spawn([process.execPath, MAIN, ...args], {
    env: { ...environment, ...added },
    terminal: {
      cols: 60,
      rows: 20,
      data: (_terminal, bytes) => {
        output += decoder.decode(bytes, { stream: true });
      },
    },
  });
  if (interruptAfterMs !== null) {
    await Bun.sleep(interruptAfterMs);
    command.kill("SIGINT");
  }
  const code = await command.exited;
  command.terminal?.close();
  return { code, output };
}

describe("Warmpath's commands as processes", () => {
  test("print to standard output and end with their code", async () => {
    const status = await run(["status"]);
    expect([status.code, status.complaints]).toEqual([0, ""]);
    expect(status.output).toStartWith("Ready\n1 instance, 1 may serve;");
    expect((await run(["explain", "1,2,3"], { WARMPATH_INTERNAL_API_TOKEN: "secret" })).output).toContain(
      "10.0.0.5:8000  ← prefill",
    );
  });

  test("tell on standard error why they cannot, and end with their code", async () => {
    const refused = await run(["query", "1,2,3"]);
    expect([refused.code, refused.output]).toEqual([1, ""]);
    expect(refused.complaints).toContain("X-Internal-Token");
    expect((await run(["stauts"])).code).toBe(2);
    expect((await run(["status"], { WARMPATH_URL: "http://127.0.0.1:9" })).code).toBe(3);
  });

  test("ask Warmpath itself where the environment names a proxy", async () => {
    const nobody = "http://127.0.0.1:9";
    expect((await run(["status"], { HTTP_PROXY: nobody, http_proxy: nobody })).code).toBe(0);
  });

  test(
    "end quietly when nobody reads any more",
    async () => {
      const command = `"${process.execPath}" "${MAIN}" status --watch | head -n 1; echo "\${PIPESTATUS[0]}"`;
      const shell = Bun.spawn(["bash", "-c", command], { env: environment, stdout: "pipe", stderr: "pipe" });
      expect(await shell.stdout.text()).toBe("Ready\n0\n");
      expect(await shell.stderr.text()).toBe("");
    },
    SLOW_TEST_MS,
  );

  test("are coloured and as wide as the terminal there, without colours where NO_COLOR is set", async () => {
    const coloured = await runOnTerminal(["status"]);
    expect(coloured.output).toContain("\x1b[32mReady\x1b[0m");
    for (const line of coloured.output.split("\r\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
    expect((await runOnTerminal(["status"], { NO_COLOR: "1" })).output).not.toContain("\x1b[");
  });

  test(
    "watch in place until Ctrl-C, which is no failure",
    async () => {
      const { code, output } = await runOnTerminal(["status", "--watch"], {}, WATCHED_MS);
      expect(code).toBe(0);
      expect(output.split("\x1b[H").length - 1).toBeGreaterThanOrEqual(2);
      expect(output).toEndWith("\x1b[?25h");
    },
    SLOW_TEST_MS,
  );
});

describe("The program", () => {
  test("prints its version", async () => {
    expect(await run(["--version"])).toEqual({ code: 0, output: `warmpath ${version}\n`, complaints: "" });
  });

  test("lists its commands in its help", async () => {
    const { output } = await run(["--help"]);
    expect(output).toStartWith("Usage: bun run start ");
    for (const name of ["serve", "status", "query", "explain"]) expect(output).toMatch(new RegExp(`^  ${name} `, "m"));
  });

  test("serves by name with the same flags", async () => {
    const served = await run(["serve", "--no-such-flag"]);
    expect([served.code, served]).toEqual([2, await run(["--no-such-flag"])]);
    const { code, output } = await run(["serve", "--help"]);
    expect([code, output]).toEqual([0, (await run(["--help"])).output]);
  });
});

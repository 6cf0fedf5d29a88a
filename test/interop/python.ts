/** Finds a Python that can play an engine: one with pyzmq and msgpack, from the path or from a virtual environment made here. */

import { join } from "node:path";
import { succeeds } from "../support/succeeds.ts";

/** Versions that the peer is known to run with. */
const PACKAGES = ["pyzmq==27.3.0", "msgpack==1.2.4"];

const ENVIRONMENT = join(import.meta.dir, "../../node_modules/.cache/warmpath-python");

/** The command of a Python that imports `zmq` and `msgpack`; null when there is none and none can be made. */
export async function findPython(): Promise<string | null> {
  const own = join(ENVIRONMENT, "bin/python3");
  for (const python of ["python3", own]) if (await canPlay(python)) return python;
  const isMade =
    (await succeeds("python3", "-m", "venv", ENVIRONMENT)) &&
    (await succeeds(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", ...PACKAGES));
  return isMade && (await canPlay(own)) ? own : null;
}

function canPlay(python: string): Promise<boolean> {
  return succeeds(python, "-c", "import zmq, msgpack");
}

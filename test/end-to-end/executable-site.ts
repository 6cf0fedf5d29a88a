/** Where the single executable runs in tests: nothing beside it, nothing in its folder or its environment, and no right to write. */

import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable, type Target } from "../../scripts/executable.ts";
import { freePorts } from "../support/free-ports.ts";

/** The user and the group `nobody`, which only root can start programs as; others run it as themselves. */
const OTHER_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const READ_ONLY = 0o555;

export interface RunningExecutable {
  url: string;
  process: Bun.Subprocess<"ignore", "pipe", "pipe">;
}

export class ExecutableSite {
  readonly #folder: string;
  readonly executable: string;
  readonly #emptyFolder: string;

  private constructor(folder: string, executable: string, emptyFolder: string) {
    this.#folder = folder;
    this.executable = executable;
    this.#emptyFolder = emptyFolder;
  }

  /** Builds the executable of this platform in a folder of its own. */
  static async build(): Promise<ExecutableSite> {
    const folder = await mkdtemp(join(tmpdir(), "warmpath-executable-"));
    const executable = await buildExecutable(`${process.platform}-${process.arch}` as Target, folder);
    const emptyFolder = join(folder, "empty");
    await mkdir(emptyFolder);
    for (const path of [emptyFolder, folder]) await chmod(path, READ_ONLY);
    return new ExecutableSite(folder, executable, emptyFolder);
  }

  /** Runs it with these arguments; its environment has nothing but what is given. */
  run(args: string[], environment: Record<string, string> = {}, cwd = this.#emptyFolder): RunningExecutable["process"] {
    return Bun.spawn([this.executable, ...args], {
      ...OTHER_USER,
      cwd,
      env: { TMPDIR: this.#emptyFolder, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Runs it on a port of its own. */
  serve(flags: string[] = [], environment: Record<string, string> = {}, cwd?: string): RunningExecutable {
    const [port] = freePorts(1);
    const process = this.run(["--http-server-port", String(port), ...flags], environment, cwd);
    return { url: `http://127.0.0.1:${port}`, process };
  }

  /** A file that the executable may read, by its path. */
  async write(name: string, content: string): Promise<string> {
    await chmod(this.#folder, 0o755);
    const path = join(this.#folder, name);
    await Bun.write(path, content);
    await chmod(path, 0o444);
    await chmod(this.#folder, READ_ONLY);
    return path;
  }

  /** What it has left behind where it was started. */
  leftovers(): Promise<string[]> {
    return readdir(this.#emptyFolder);
  }

  async remove(): Promise<void> {
    await chmod(this.#folder, 0o755);
    await rm(this.#folder, { recursive: true });
  }
}

/** The JSON of an answer; null while nothing listens, or when the status is none of success. */
export async function askJson(url: string, body?: object): Promise<unknown> {
  try {
    const response = await fetch(url, body === undefined ? {} : { method: "POST", ...jsonBody(body) });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function jsonBody(body: object): { headers: Record<string, string>; body: string } {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

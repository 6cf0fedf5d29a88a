/** The demo's engines: starts each as a process, and another in its place when it is killed. */

import { join } from "node:path";

const ENGINE = join(import.meta.dir, "../engine.ts");

/** Long enough to see an engine leave the fleet, and short enough to wait for it. */
const RESTART_AFTER_MS = 12_000;

interface Member {
  readonly name: string;
  /** Null while it is gone. */
  process: Bun.Subprocess | null;
  restart: Timer | null;
}

export class DemoFleet {
  readonly #url: string;
  readonly #token: string;
  readonly #members: Member[];
  #isClosing = false;

  /** Starts engines `engine-1:8000` and so on, which register at `url` with this internal token; "": none. */
  constructor(size: number, url: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#members = Array.from({ length: size }, (_, index) => {
      return { name: `engine-${index + 1}:8000`, process: null, restart: null };
    });
    for (const member of this.#members) this.#start(member);
  }

  /** The engines with their processes; null: gone at the moment. */
  get engines(): { name: string; process: number | null }[] {
    return this.#members.map(({ name, process }) => ({ name, process: process?.pid ?? null }));
  }

  /** Ends every engine, and starts none any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { process, restart } of this.#members) {
      if (restart !== null) clearTimeout(restart);
      process?.kill();
    }
    await Promise.all(this.#members.map(({ process }) => process?.exited));
  }

  #start(member: Member): void {
    member.restart = null;
    member.process = Bun.spawn([process.execPath, ENGINE, "--demo", "--name", member.name, "--warmpath", this.#url], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...Bun.env, WARMPATH_INTERNAL_API_TOKEN: this.#token },
      // Nothing is said over it; the engine notices when it is cut.
      ipc: () => {},
      onExit: () => this.#ended(member),
    });
  }

  #ended(member: Member): void {
    member.process = null;
    if (this.#isClosing) return;
    console.log(`${member.name} is gone; another process takes its place in ${RESTART_AFTER_MS / 1000} seconds.`);
    member.restart = setTimeout(() => {
      this.#start(member);
      console.log(`${member.name} is back: kill ${member.process?.pid}`);
    }, RESTART_AFTER_MS);
  }
}

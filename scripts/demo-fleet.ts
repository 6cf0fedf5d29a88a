/** The demo's engines: starts each as a process, sends prompts to it, and starts another in its place when it is killed. */

import { join } from "node:path";
import type { DemoPrompt } from "./demo-engine.ts";

const ENGINE = join(import.meta.dir, "demo-engine.ts");

/** Long enough to see an engine leave the fleet, and short enough to wait for it. */
const RESTART_AFTER_MS = 12_000;

interface Member {
  readonly name: string;
  /** Null while it is gone. */
  process: Bun.Subprocess | null;
  /** Prompts that the engine has not taken yet. */
  untaken: number;
  batchSeq: number;
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
      return { name: `engine-${index + 1}:8000`, process: null, untaken: 0, batchSeq: 0, restart: null };
    });
    for (const member of this.#members) this.#start(member);
  }

  /** The engines with their processes; null: gone at the moment. */
  get engines(): { name: string; process: number | null }[] {
    return this.#members.map(({ name, process }) => ({ name, process: process?.pid ?? null }));
  }

  /** Whether every engine has taken every prompt. */
  get isIdle(): boolean {
    return this.#members.every(({ untaken }) => untaken === 0);
  }

  /** The last batch of the engine. */
  batchSeqOf(name: string): number {
    return this.#memberOf(name).batchSeq;
  }

  /** Sends a prompt to the engine; it is lost where the engine is gone. */
  send(name: string, prompt: DemoPrompt): void {
    const member = this.#memberOf(name);
    if (member.process === null) return;
    member.untaken += 1;
    member.process.send(prompt);
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

  #memberOf(name: string): Member {
    const member = this.#members.find((candidate) => candidate.name === name);
    if (member === undefined) throw new Error(`Cannot find engine ${JSON.stringify(name)} in the demo`);
    return member;
  }

  #start(member: Member): void {
    const number = this.#members.indexOf(member) + 1;
    member.restart = null;
    member.untaken = 0;
    member.process = Bun.spawn([process.execPath, ENGINE, String(number), this.#url], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...Bun.env, WARMPATH_INTERNAL_API_TOKEN: this.#token },
      serialization: "advanced",
      ipc: ({ batchSeq }: { batchSeq: number }) => {
        member.untaken -= 1;
        member.batchSeq = batchSeq;
      },
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

/** The process of a peer: `peer/engine.py`, which obeys one JSON command a line and answers each with one. */

import { join } from "node:path";
import { commandText } from "./cache-event.ts";

const SCRIPT = join(import.meta.dir, "peer/engine.py");

/** Far above the longest command, a disconnect of two seconds. */
const REPLY_TIMEOUT_MS = 20_000;

/** Two seconds in all. */
const REOPEN_TRIES_MAX = 80;

const REOPEN_PAUSE_MS = 25;

export interface PeerReply {
  ok: boolean;
  error?: string;
  seq?: number;
  state?: Record<string, Record<string, unknown>>;
}

export class PeerProcess {
  readonly #process: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #lines: AsyncIterator<string>;
  /** Settles with the last command. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(process: Bun.Subprocess<"pipe", "pipe", "inherit">) {
    this.#process = process;
    this.#lines = readLines(process.stdout);
  }

  /** Resolves when the peer has bound its ports; rejects when it cannot. */
  static async start(python: string, flags: Record<string, string | number>): Promise<PeerProcess> {
    const command = [python, SCRIPT, ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)];
    const peer = new PeerProcess(Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" }));
    await peer.#nextLine();
    return peer;
  }

  /** Sends a command when those before have been answered; rejects when the peer refuses it or does not answer. */
  command(command: Record<string, unknown>): Promise<PeerReply> {
    const reply = this.#last.then(async () => {
      this.#process.stdin.write(`${commandText(command)}\n`);
      this.#process.stdin.flush();
      const answer = (await this.#nextLine()) as PeerReply;
      if (!answer.ok) throw new Error(`Cannot obey ${JSON.stringify(Object.keys(command))}: ${answer.error}`);
      return answer;
    });
    this.#last = reply.catch(() => {});
    return reply;
  }

  /**
   * Sends a command that closes the ports and opens them again. libzmq lets a port go in its own time, on a busy machine too late
   * for the peer to open it: then once more.
   */
  async reopen(command: Record<string, unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const refusal = await this.command(command).then(
        () => null,
        (error: Error) => error,
      );
      if (refusal === null) return;
      if (tries === REOPEN_TRIES_MAX || !refusal.message.includes("Address already in use")) throw refusal;
      await Bun.sleep(REOPEN_PAUSE_MS);
    }
  }

  /** Ends it at once, whatever it is doing; nobody is told. */
  async stop(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }

  async #nextLine(): Promise<unknown> {
    const watchdog = setTimeout(() => this.#process.kill(), REPLY_TIMEOUT_MS);
    const line = await this.#lines.next();
    clearTimeout(watchdog);
    if (line.done) throw new Error(`Cannot read the peer's reply: it has ended, a line within ${REPLY_TIMEOUT_MS} ms is needed`);
    return JSON.parse(line.value);
  }
}

async function* readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

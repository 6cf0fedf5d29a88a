/**
 * A peer: `peer/engine.py` in a process of its own, driven by one command at a time. Whatever it is told to publish is written
 * to its state log first.
 */

import { join } from "node:path";
import { type AnnouncementForm, announcement, type CacheEvent, commandText, hashOfState } from "./cache-event.ts";
import { CacheState } from "./cache-state.ts";
import { StateLog } from "./state-log.ts";

const SCRIPT = join(import.meta.dir, "peer/engine.py");

/** Far above the longest command, a disconnect of two seconds. */
const REPLY_TIMEOUT_MS = 20_000;

/** Each takes as long as the command that opens the ports. */
const REOPEN_TRIES_MAX = 20;

export interface PeerOptions {
  /** Default 0. */
  rank?: number;
  /** Default "xllm-kv". */
  topic?: string;
}

export type SnapshotMode = "whole" | "silent" | "no-end" | "late" | "garbage" | { pad: number };

interface PeerReply {
  ok: boolean;
  error?: string;
  seq?: number;
  state?: Record<string, Record<string, unknown>>;
}

export class PeerEngine {
  readonly log = new StateLog();
  /** How events are announced from now on. */
  form: AnnouncementForm = { shape: "map", hashes: "unsigned" };
  readonly #process: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #lines: AsyncIterator<string>;
  #cache = CacheState.EMPTY;
  #batchSeq = 0;
  /** Settles with the last command. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(process: Bun.Subprocess<"pipe", "pipe", "inherit">) {
    this.#process = process;
    this.#lines = readLines(process.stdout);
    this.log.beginProcess();
  }

  /** Starts a peer on these ports; rejects when it cannot bind them. */
  static async start(python: string, ports: { events: number; replay: number }, options: PeerOptions = {}): Promise<PeerEngine> {
    const { rank = 0, topic = "xllm-kv" } = options;
    const flags = { "event-port": ports.events, "replay-port": ports.replay, rank, topic };
    const process = Bun.spawn([python, SCRIPT, ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, `${value}`])], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const peer = new PeerEngine(process);
    await peer.#nextLine();
    return peer;
  }

  /** The cache after the last batch. */
  get cache(): CacheState {
    return this.#cache;
  }

  /** The last batch sequence that was used; 0 before the first. */
  get batchSeq(): number {
    return this.#batchSeq;
  }

  /**
   * Sends one batch. `outcome` is the state that a reader rightly has after it, when that is not what the events say; null when
   * no state is right.
   */
  publish(events: readonly CacheEvent[], outcome: CacheState | null = this.#cache.after(events)): Promise<void> {
    return this.#batch({ publish: this.#announced(events) }, outcome);
  }

  /** Takes a batch's number and changes the cache, but sends nothing. */
  lose(events: readonly CacheEvent[]): Promise<void> {
    return this.#batch({ lose: this.#announced(events) }, this.#cache.after(events));
  }

  /** Sends a batch in words of its own; `outcome` as for `publish`. */
  publishWords(events: readonly unknown[], outcome: CacheState | null): Promise<void> {
    return this.#batch({ publish: events }, outcome);
  }

  /** Sends these bytes as a batch; the cache stays as it is. */
  raw(payload: Uint8Array): Promise<void> {
    return this.#batch({ raw: payload.toHex() }, this.#cache);
  }

  /** Skips `count` batch sequences. */
  async vanish(count: number): Promise<void> {
    for (let skipped = 0; skipped < count; skipped++) this.log.record(++this.#batchSeq, this.#cache);
    await this.command({ vanish: count });
  }

  /** Sends exactly these frames. */
  async frames(frames: readonly Uint8Array[]): Promise<void> {
    await this.command({ frames: frames.map((frame) => frame.toHex()) });
  }

  /** Sends the last `count` batches once more. */
  async repeat(count: number): Promise<void> {
    await this.command({ repeat: count });
  }

  /** How requests for a snapshot are answered from now on. */
  async snapshot(mode: SnapshotMode): Promise<void> {
    await this.command({ snapshot: mode });
  }

  /** Closes both sockets for a while. */
  async disconnect(durationMs: number): Promise<void> {
    await this.#reopen({ disconnect: durationMs });
  }

  /** A new process: empty, or with these events as its first batch. */
  async restart(events: readonly CacheEvent[]): Promise<void> {
    this.log.beginProcess();
    this.#cache = CacheState.EMPTY.after(events);
    this.#batchSeq = events.length === 0 ? 0 : 1;
    if (this.#batchSeq === 1) this.log.record(1, this.#cache);
    await this.#reopen({ restart: this.#announced(events) });
  }

  /** The hashes on each tier, asked of the peer itself. */
  async heldHashes(): Promise<{ device: Set<bigint>; host: Set<bigint> }> {
    const { state = {} } = await this.command({ state: true });
    const hashes = (blocks = {}) => new Set(Object.keys(blocks).map(hashOfState));
    return { device: hashes(state.gpu), host: hashes(state.cpu) };
  }

  /** Sends any command when those before have been answered; rejects when the peer refuses it or does not answer. */
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

  /** Ends the process. */
  async stop(): Promise<void> {
    this.#process.kill();
    await this.#process.exited;
  }

  async #batch(command: Record<string, unknown>, outcome: CacheState | null): Promise<void> {
    const batchSeq = ++this.#batchSeq;
    if (outcome !== null) {
      this.#cache = outcome;
      this.log.record(batchSeq, outcome);
    }
    const { seq } = await this.command(command);
    if (seq !== batchSeq) throw new Error(`Cannot follow the peer: batch ${seq} was sent, batch ${batchSeq} is needed`);
  }

  /** libzmq lets a port go in its own time, on a busy machine too late for the peer to open it again: then once more. */
  async #reopen(command: Record<string, unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const refusal = await this.command(command).then(
        () => null,
        (error: Error) => error,
      );
      if (refusal === null) return;
      if (tries === REOPEN_TRIES_MAX || !refusal.message.includes("Address already in use")) throw refusal;
    }
  }

  #announced(events: readonly CacheEvent[]): unknown[] {
    return events.map((event) => announcement(event, this.form));
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

/** A peer as an engine with a cache. Whatever it is told to publish is written to its state log first. */

import type { Engine, Tier } from "#domain";
import { type AnnouncementForm, announcements, type CacheEvent, hashOfState, STATE_MEDIA } from "./cache-event.ts";
import { CacheState } from "./cache-state.ts";
import { PeerProcess, type PeerReply } from "./peer-process.ts";
import { StateLog } from "./state-log.ts";

/** The topic that peers publish under, and that Warmpath is told. */
export const TOPICS: Record<Engine, string> = { xllm: "xllm-kv", vllm: "kv@peer@model", sglang: "" };

export interface PeerOptions {
  /** Default "xllm". */
  engine?: Engine;
  /** Default 0. */
  rank?: number;
  /** Default that of the engine. */
  topic?: string;
  /** Of vLLM: whether replies carry the topic; default "plain". */
  replayShape?: "plain" | "topic";
  /** Batches kept for a replay. */
  bufferSteps?: number;
  /** False: Warmpath is told of no replay endpoint. */
  hasReplay?: boolean;
  /** Encrypts both sockets with this secret key; with `allowedClient`, only for the client with that public key. */
  curve?: { secretKey: string; allowedClient?: string };
}

/** How an xLLM peer answers requests. */
export type SnapshotMode = "whole" | "silent" | "no-end" | "late" | "garbage" | { pad: number };

/** How the others do: `hole` leaves one batch out of the middle, `cut` ends in the middle without an end marker. */
export type ReplayMode = "whole" | "silent" | "no-end" | "hole" | "cut";

export class PeerEngine {
  readonly engine: Engine;
  readonly log = new StateLog();
  /** How events are announced from now on. */
  form: AnnouncementForm;
  readonly #process: PeerProcess;
  /** The batch sequence before the first. */
  readonly #beforeFirst: number;
  #cache: CacheState;
  #batchSeq: number;

  private constructor(process: PeerProcess, engine: Engine) {
    this.engine = engine;
    this.form = { shape: "map", hashes: engine === "sglang" ? "signed" : "unsigned" };
    this.#process = process;
    this.#beforeFirst = engine === "xllm" ? 0 : -1;
    this.#cache = this.emptyCache;
    this.#batchSeq = this.#beforeFirst;
    this.log.beginProcess(this.#batchSeq, this.#cache);
  }

  /** Starts a peer on these ports; rejects when it cannot bind them. */
  static async start(python: string, ports: { events: number; replay: number }, options: PeerOptions = {}): Promise<PeerEngine> {
    const { engine = "xllm", rank = 0, topic = TOPICS[engine], replayShape = "plain", bufferSteps = 10_000, curve } = options;
    const flags = {
      engine,
      rank,
      topic,
      "event-port": ports.events,
      "replay-port": ports.replay,
      "replay-shape": replayShape,
      "buffer-steps": bufferSteps,
      ...(curve && { "curve-secret-key": curve.secretKey, "curve-allow": curve.allowedClient ?? "" }),
    };
    return new PeerEngine(await PeerProcess.start(python, flags), engine);
  }

  /** The cache after the last batch. */
  get cache(): CacheState {
    return this.#cache;
  }

  /** A cache of this engine that holds nothing. */
  get emptyCache(): CacheState {
    return this.engine === "xllm" ? CacheState.EMPTY : CacheState.EMPTY_COUNTED;
  }

  /** The last batch sequence that was used; the one before the first when none was. */
  get batchSeq(): number {
    return this.#batchSeq;
  }

  /**
   * Sends one batch. `outcome` is the state that a reader rightly has after it, when that is not what the events say; null when
   * no state is right.
   */
  publish(events: readonly CacheEvent[], outcome: CacheState | null = this.#cache.after(events)): Promise<void> {
    return this.#batch({ publish: this.announced(events) }, outcome);
  }

  /** Takes a batch's number and changes the cache, but sends nothing. */
  lose(events: readonly CacheEvent[]): Promise<void> {
    return this.#batch({ lose: this.announced(events) }, this.#cache.after(events));
  }

  /** Sends a batch in words of its own; `outcome` as for `publish`. */
  publishWords(events: readonly unknown[], outcome: CacheState | null): Promise<void> {
    return this.#batch({ publish: events }, outcome);
  }

  /** Sends these bytes as a batch; without an `outcome` the cache stays as it is. */
  raw(payload: Uint8Array, outcome: CacheState = this.#cache): Promise<void> {
    return this.#batch({ raw: payload.toHex() }, outcome);
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

  /** How an xLLM peer answers requests from now on. */
  async snapshot(mode: SnapshotMode): Promise<void> {
    await this.command({ snapshot: mode });
  }

  /** How any other peer does. */
  async replay(mode: ReplayMode): Promise<void> {
    await this.command({ replay: mode });
  }

  /** Whether requests of any kind are answered from now on. */
  async answerRequests(mode: "whole" | "silent"): Promise<void> {
    await (this.engine === "xllm" ? this.snapshot(mode) : this.replay(mode));
  }

  /** Closes both sockets for a while. */
  async disconnect(durationMs: number): Promise<void> {
    await this.#process.reopen({ disconnect: durationMs });
  }

  /** A new process: empty, or with these events as its first batch. */
  async restart(events: readonly CacheEvent[]): Promise<void> {
    this.#batchSeq = this.#beforeFirst;
    this.log.beginProcess(this.#batchSeq, this.emptyCache);
    this.#cache = this.emptyCache.after(events);
    if (events.length > 0) this.log.record(++this.#batchSeq, this.#cache);
    await this.#process.reopen({ restart: this.announced(events) });
  }

  /** The hashes on each tier, asked of the peer itself. */
  async heldHashes(): Promise<Record<Tier, Set<bigint>>> {
    const { state = {} } = await this.command({ state: true });
    const hashesOn = (tier: Tier) =>
      new Set(STATE_MEDIA[tier].flatMap((medium) => Object.keys(state[medium] ?? {})).map(hashOfState));
    return { device: hashesOn("device"), host: hashesOn("host"), disk: hashesOn("disk") };
  }

  /** These events in the peer's form, to be changed and published as words. */
  announced(events: readonly CacheEvent[]): unknown[] {
    return announcements(events, this.engine, this.form);
  }

  /** Sends any command; rejects when the peer refuses it. */
  command(command: Record<string, unknown>): Promise<PeerReply> {
    return this.#process.command(command);
  }

  /** Ends the process at once, as a crash does. */
  stop(): Promise<void> {
    return this.#process.stop();
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
}

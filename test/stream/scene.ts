/** One event stream over fake sockets, a fake clock and a real index: a test says what arrives and asks what the index answers. */

import type { LogFields } from "#base";
import { describeUnsynchronized, type StreamDescription } from "#domain";
import { createIndex, KvDirectory, KvIndexWriter } from "#index";
import { type EngineEvent, encodeBatch } from "#sim";
import { EventStream, type EventStreamLimits, StreamIndex } from "#stream";
import { dialectOf } from "#wire";
import { FakeClock } from "../support/fake-clock.ts";
import { FakeSockets } from "./fake-sockets.ts";

const BLOCK_SIZE = 2;

export const STREAM: StreamDescription = {
  instanceName: "10.0.0.5:8000",
  dpRank: 0,
  engine: "xllm",
  blockSize: BLOCK_SIZE,
  hashSeed: 1024,
  endpoint: "tcp://10.0.0.5:18000",
  replayEndpoint: "tcp://10.0.0.5:38000",
  topic: "xllm-kv",
  curveServerKey: null,
  incarnation: "",
};

/** The same of an engine that repeats its last batches, and of one that repeats none. */
export const REPLAYING_STREAM: StreamDescription = { ...STREAM, engine: "vllm" };
export const STREAM_WITHOUT_REPLAY: StreamDescription = { ...STREAM, engine: "sglang", replayEndpoint: null };

const LIMITS: EventStreamLimits = {
  maxMessageBytes: 10_000,
  maxBufferedBytes: 5000,
  replayTimeoutMs: 2000,
  resyncIntervalMs: 30_000,
};

/** Blocks `first` to `first + count - 1` of the one prompt that tests speak of, on the device. */
export function blocks(first: number, count: number): EngineEvent {
  const hashes = Array.from({ length: count }, (_, n) => BigInt(first + n));
  const tokens = Uint32Array.from({ length: count * BLOCK_SIZE }, (_, n) => first * BLOCK_SIZE + n);
  return {
    kind: "stored",
    tier: "device",
    hashes,
    parentHash: first === 0 ? null : BigInt(first - 1),
    tokens,
    blockSize: BLOCK_SIZE,
  };
}

/** These blocks leave the device. */
export function removed(first: number, count: number): EngineEvent {
  return { kind: "removed", tier: "device", hashes: Array.from({ length: count }, (_, n) => BigInt(first + n)) };
}

export const cleared: EngineEvent = { kind: "cleared" };

/** A payload with these events. */
export const payload = (...events: EngineEvent[]): Uint8Array => encodeBatch(events, STREAM.dpRank, 0);

export class StreamScene {
  readonly sockets = new FakeSockets();
  readonly clock = new FakeClock();
  readonly logged: { message: string; fields: LogFields }[] = [];
  readonly #directory: KvDirectory;
  readonly #stream: EventStream;

  private constructor(directory: KvDirectory, index: StreamIndex, stream: StreamDescription, limits: EventStreamLimits) {
    this.#directory = directory;
    const log = (message: string, fields: LogFields = {}) => this.logged.push({ message, fields });
    const { sockets, clock } = this;
    const logger = { info: log, warn: log, error: log };
    this.#stream = new EventStream({ stream, index, sockets, limits, clock, logger, random: () => 0 });
  }

  static async create(
    limits: Partial<EventStreamLimits> & { maxBlocksPerStream?: number } = {},
    stream: StreamDescription = STREAM,
  ): Promise<StreamScene> {
    const handle = await createIndex({ maxStreams: 1, maxBlocksPerStream: limits.maxBlocksPerStream ?? 1000 });
    const index = new StreamIndex(0, stream, new KvIndexWriter(handle), dialectOf(stream.engine));
    index.open();
    const directory = new KvDirectory(handle);
    directory.addStream(0, stream);
    return new StreamScene(directory, index, stream, { ...LIMITS, ...limits });
  }

  get state() {
    return this.#stream.state;
  }

  get drops() {
    return this.#stream.drops;
  }

  get nextDeadlineMs(): number {
    return this.#stream.nextDeadlineMs;
  }

  pump(): boolean {
    return this.#stream.pump();
  }

  close(): void {
    this.#stream.close();
  }

  /** Goes on in time, to each deadline in turn. */
  advance(durationMs: number): void {
    const endMs = this.clock.nowMs() + durationMs;
    while (this.nextDeadlineMs <= endMs) {
      this.clock.advance(this.nextDeadlineMs - this.clock.nowMs());
      this.#stream.onTime();
    }
    this.clock.advance(endMs - this.clock.nowMs());
  }

  connect(): void {
    this.sockets.connections.push("connected");
    this.pump();
  }

  disconnect(): void {
    this.sockets.connections.push("disconnected");
    this.pump();
  }

  batch(batchSeq: number, ...events: EngineEvent[]): void {
    this.bytes(batchSeq, payload(...events));
  }

  bytes(batchSeq: number, bytes: Uint8Array): void {
    this.sockets.messages.push({ kind: "batch", batchSeq, payload: bytes });
    this.pump();
  }

  snapshot(watermark: number, ...events: EngineEvent[]): void {
    this.sockets.replies.push({ kind: "snapshot", watermark, payload: payload(...events) }, { kind: "end" });
    this.pump();
  }

  /** The answer to a request for batches: these, and the end marker. */
  replay(batches: Record<number, readonly EngineEvent[] | Uint8Array>, hasEnd = true): void {
    for (const [batchSeq, batch] of Object.entries(batches)) {
      const bytes = batch instanceof Uint8Array ? batch : payload(...batch);
      this.sockets.replies.push({ kind: "batch", batchSeq: Number(batchSeq), payload: bytes });
    }
    if (hasEnd) this.sockets.replies.push({ kind: "end" });
    this.pump();
  }

  /** Connected and live, after batch `batchSeq` with the first `count` blocks; settled. */
  live(batchSeq: number, count: number): void {
    this.connect();
    this.snapshot(batchSeq, ...(count === 0 ? [] : [blocks(0, count)]));
    this.advance(1000);
  }

  /** Goes on to the next deadline: while the stream waits, that is its retry. */
  waitForRetry(): void {
    this.advance(this.nextDeadlineMs - this.clock.nowMs());
  }

  /**
   * `"20: 3 of 5"`: synchronized after batch 20, 3 blocks of the prompt's prefix, 5 blocks in all; `"20: 3 of 5, in part"` with
   * partial coverage; else the reason.
   */
  get answer(): string {
    const tokenCount = 100 * BLOCK_SIZE;
    this.#directory.tokens.set(Array.from({ length: tokenCount }, (_, n) => n));
    const matches = this.#directory.match(tokenCount, null, null);
    if (matches === "busy") return "busy";
    const [{ unsynchronized, coverage, batchSeq, deviceHitBlocks, hostOnlyHitBlocks, deviceBlocks, hostBlocks }] = matches;
    const hits = deviceHitBlocks + hostOnlyHitBlocks;
    const part = coverage === "partial" ? ", in part" : "";
    if (unsynchronized === null) return `${batchSeq}: ${hits} of ${deviceBlocks + hostBlocks}${part}`;
    return hits === 0
      ? describeUnsynchronized(unsynchronized)
      : `${hits} hits although ${describeUnsynchronized(unsynchronized)}`;
  }
}

/**
 * The other end of a simulated engine: a SUB and a DEALER socket and a MessagePack library, nothing of Warmpath's decoder.
 * Every wait ends at a deadline with an error that says what did not come.
 */

import { decode } from "@msgpack/msgpack";
import type { EngineEvent, SimulatedEngine } from "#sim";
import { MessageBuffer, Poller, ZmqContext, type ZmqSocket } from "#wire";

/** Below the test runner's own limit of 5 s, whose message would not say what was waited for. */
const DEADLINE_MS = 4000;
/** How often an engine in this thread gets its turn while its client waits. */
const TURN_MS = 5;

export interface Batch {
  batchSeq: bigint;
  timestamp: unknown;
  events: unknown[];
  dpRank: unknown;
}

export class EngineClient {
  readonly #engine: SimulatedEngine;
  readonly #context = ZmqContext.create();
  readonly #subscriber: ZmqSocket;
  readonly #dealer: ZmqSocket;
  readonly #buffer = new MessageBuffer(1 << 20);
  readonly #liveMessages = new Poller<null>(1);
  readonly #replies = new Poller<null>(1);

  constructor(engine: SimulatedEngine) {
    this.#engine = engine;
    const fast = { reconnectIntervalMs: TURN_MS };
    this.#subscriber = this.#context.openSocket("SUB", { ...fast, subscription: new TextEncoder().encode(engine.topic) });
    this.#dealer = this.#context.openSocket("DEALER", fast);
    this.#subscriber.connect(engine.stream.endpoint);
    this.#dealer.connect(engine.stream.replayEndpoint);
    this.#liveMessages.add(this.#subscriber, null);
    this.#replies.add(this.#dealer, null);
  }

  /** Clears the engine's cache until the subscription hears of it, and takes what it hears: nothing is missed from here on. */
  async subscribe(): Promise<void> {
    let [, batchSeq] = await this.#until("a first live batch", () => {
      this.#engine.clear();
      return this.#take(this.#subscriber, this.#liveMessages);
    });
    while (readNumber(batchSeq) !== BigInt(this.#engine.batchSeq)) [, batchSeq] = await this.nextFrames();
  }

  /** The three frames of the next live message. */
  nextFrames(): Promise<Uint8Array[]> {
    return this.#until("a live batch", () => this.#take(this.#subscriber, this.#liveMessages));
  }

  async nextBatch(): Promise<Batch> {
    const [, batchSeq, payload] = await this.nextFrames();
    return decodeBatch(batchSeq, payload);
  }

  /** Sends one request as raw frames. */
  request(frames: Uint8Array[]): void {
    this.#dealer.send(frames);
  }

  /** Sends one well-formed request. */
  requestSnapshot(): void {
    this.request([new Uint8Array(0), new Uint8Array(8)]);
  }

  /** Lets the engine serve until a reply comes. */
  nextReply(): Promise<Uint8Array[]> {
    return this.#until("a reply", () => {
      this.#engine.serve();
      return this.replyNow();
    });
  }

  /** A reply that is here within a turn, else null. */
  replyNow(): Uint8Array[] | null {
    return this.#take(this.#dealer, this.#replies);
  }

  async snapshot(): Promise<Batch> {
    this.requestSnapshot();
    const [, watermark, payload] = await this.nextReply();
    await this.nextReply();
    return decodeBatch(watermark, payload);
  }

  close(): void {
    this.#subscriber.close();
    this.#dealer.close();
    this.#context.terminate();
  }

  async #until<Found>(what: string, look: () => Found | null): Promise<Found> {
    const deadlineMs = performance.now() + DEADLINE_MS;
    while (performance.now() < deadlineMs) {
      const found = look();
      if (found !== null) return found;
      await Bun.sleep(0);
    }
    throw new Error(`Cannot wait for ${what}: none came within ${DEADLINE_MS} ms`);
  }

  #take(socket: ZmqSocket, poller: Poller<null>): Uint8Array[] | null {
    poller.wait(TURN_MS);
    if (socket.receive(this.#buffer) !== "message") return null;
    return Array.from({ length: this.#buffer.frameCount }, (_, index) => this.#buffer.frame(index).slice());
  }
}

/** A batch's frames with every 64-bit integer as a bigint. */
function decodeBatch(batchSeqFrame: Uint8Array, payload: Uint8Array): Batch {
  const [timestamp, events, dpRank] = decode(payload, { useBigInt64: true }) as [unknown, unknown[], unknown];
  return { batchSeq: readNumber(batchSeqFrame), timestamp, events, dpRank };
}

/** A frame of 8 bytes, big-endian. */
export function readNumber(frame: Uint8Array): bigint {
  return new DataView(frame.buffer, frame.byteOffset, frame.length).getBigUint64(0);
}

interface WireEvent {
  type: string;
  block_hashes: bigint[];
  parent_block_hash: bigint | null;
  token_ids: number[];
  block_size: number;
  medium: "gpu" | "cpu";
}

/** A decoded event map in the engine's own words. */
export function engineEvent(decoded: unknown): EngineEvent {
  const event = decoded as WireEvent;
  if (event.type === "AllBlocksCleared") return { kind: "cleared" };
  const tier = event.medium === "gpu" ? "device" : "host";
  if (event.type === "BlockRemoved") return { kind: "removed", tier, hashes: event.block_hashes };
  return {
    kind: "stored",
    tier,
    hashes: event.block_hashes,
    parentHash: event.parent_block_hash,
    tokens: Uint32Array.from(event.token_ids),
    blockSize: event.block_size,
  };
}

/**
 * The live side of one stream: a SUB socket on one publisher, frames checked, payloads not looked into. Whatever arrives becomes
 * a value; nothing is dropped unseen.
 */

import type { ConnectionEvent } from "./connection-state.ts";
import { type ConnectionWatch, connectWatched } from "./connection-watch.ts";
import { NUMBER_FRAME_BYTES, readFrameNumber } from "./frame-number.ts";
import type { MessageBuffer } from "./libzmq/message-buffer.ts";
import type { ZmqSocket } from "./libzmq/socket.ts";
import type { ReceiverOptions } from "./receiver-options.ts";

/**
 * Messages that may wait in libzmq while the ingest thread is busy: more than a publisher sends in the longest step (50 ms),
 * few enough that typical batches (some kB) stay within megabytes. Beyond it TCP holds the publisher back, which
 * then drops, and the gap is seen.
 */
const RECEIVE_QUEUE_MESSAGES = 1000;

/** A publisher answers a heartbeat from its I/O thread, however quiet or busy it is; three missed ones are a dead connection. */
const HEARTBEAT_INTERVAL_MS = 2000;
const HEARTBEAT_TIMEOUT_MS = 6000;

/** Connecting again begins fast, for a restart, and settles at a rate that costs nothing. */
const RECONNECT_INTERVAL_MS = 100;
const RECONNECT_INTERVAL_MAX_MS = 2000;

export interface SubscriberOptions extends ReceiverOptions {
  /** Exact topic. */
  topic: string;
}

/**
 * `batch`: the payload is a view of the buffer, valid until anything is received into it. `foreign-topic`: ZeroMQ matches
 * prefixes, and this topic only begins with ours. `malformed-frames`: not topic, 8-byte batch sequence below 2^53, payload.
 * `oversized`: all frames are within the limit but do not fit into the buffer together.
 */
export type ReceivedBatch =
  | { kind: "batch"; batchSeq: number; payload: Uint8Array }
  | { kind: "foreign-topic" }
  | { kind: "malformed-frames"; frames: number }
  | { kind: "oversized" };

const FOREIGN_TOPIC: ReceivedBatch = { kind: "foreign-topic" };
const OVERSIZED: ReceivedBatch = { kind: "oversized" };

export class Subscriber {
  /** For a poller: readable when `receive` has something. */
  readonly socket: ZmqSocket;
  readonly #topic: Uint8Array;
  readonly #buffer: MessageBuffer;
  readonly #watch: ConnectionWatch;
  readonly #batch = { kind: "batch" as const, batchSeq: 0, payload: new Uint8Array(0) as Uint8Array };
  readonly #malformed = { kind: "malformed-frames" as const, frames: 0 };

  /** Starts connecting, and goes on trying for as long as it is open. Throws ZmqError for an endpoint that makes no sense. */
  constructor({ context, endpoint, topic, maxMessageBytes, buffer, clock, curve = null }: SubscriberOptions) {
    this.#topic = new TextEncoder().encode(topic);
    this.#buffer = buffer;
    const options = {
      maxMessageBytes,
      receiveQueueMessages: RECEIVE_QUEUE_MESSAGES,
      heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
      heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
      reconnectIntervalMs: RECONNECT_INTERVAL_MS,
      reconnectIntervalMaxMs: RECONNECT_INTERVAL_MAX_MS,
      subscription: this.#topic,
      curve,
    };
    const { socket, watch } = connectWatched(context, clock, "SUB", options, endpoint);
    this.socket = socket;
    this.#watch = watch;
  }

  /** For a poller: readable when `connection` may have something. */
  get monitorSocket(): ZmqSocket {
    return this.#watch.socket;
  }

  /** Clock time at which `connection` may have something to tell although its socket is silent; else Infinity. */
  get connectionDueAtMs(): number {
    return this.#watch.dueAtMs;
  }

  /** The next message, as an object that the next call reuses; null when none waits. */
  receive(): ReceivedBatch | null {
    const result = this.socket.receive(this.#buffer);
    if (result === "would-block") return null;
    if (!this.#isOurTopic()) return FOREIGN_TOPIC;
    if (this.#buffer.frameCount !== 3) return this.#malformedFrames();
    if (result === "truncated") return OVERSIZED;
    const batchSeq = this.#readBatchSeq();
    if (batchSeq === null) return this.#malformedFrames();
    this.#batch.batchSeq = batchSeq;
    this.#batch.payload = this.#buffer.frame(2);
    return this.#batch;
  }

  /**
   * The next change of the connection, or null. After any but `connected`, `disconnected` and `handshake-broken-off` this
   * subscriber is dead: close it and open another. Messages of a lost connection stay receivable, so drain `receive` first.
   */
  connection(): ConnectionEvent | null {
    return this.#watch.next();
  }

  /** Closes both sockets; a poller must have let go of them. */
  close(): void {
    this.#watch.close();
    this.socket.close();
  }

  #isOurTopic(): boolean {
    const { bytes } = this.#buffer;
    if (this.#buffer.frameLength(0) !== this.#topic.length) return false;
    const start = this.#buffer.frameStart(0);
    return this.#topic.every((byte, index) => bytes[start + index] === byte);
  }

  #malformedFrames(): ReceivedBatch {
    this.#malformed.frames = this.#buffer.frameCount;
    return this.#malformed;
  }

  #readBatchSeq(): number | null {
    if (this.#buffer.frameLength(1) !== NUMBER_FRAME_BYTES) return null;
    return readFrameNumber(this.#buffer.bytes, this.#buffer.frameStart(1));
  }
}

/**
 * One recovery request: a DEALER socket of its own asks for the engine's state and takes the reply. The next request is another
 * client, so that a late reply to this one can never be taken for its own.
 *
 *   request   "" | start u64          reply   "" | watermark u64 | payload      end   "" | ff×8 | ""
 */

import { assert, type Clock } from "#base";
import { type ConnectionWatch, connectWatched } from "./connection-watch.ts";
import { isEndMarker, NUMBER_FRAME_BYTES, readFrameNumber, writeFrameNumber } from "./frame-number.ts";
import type { ZmqContext } from "./libzmq/context.ts";
import type { MessageBuffer } from "./libzmq/message-buffer.ts";
import type { ZmqSocket } from "./libzmq/socket.ts";

/** A snapshot is two messages; the queue is for a peer that sends what nobody asked for. */
const RECEIVE_QUEUE_MESSAGES = 16;

/** A request waits for its endpoint within the caller's timeout, a few seconds: no backing off. */
const RECONNECT_INTERVAL_MS = 100;

const DELIMITER = new Uint8Array(0);

export interface RecoveryClientOptions {
  context: ZmqContext;
  /** `tcp://host:port` of the recovery endpoint. */
  endpoint: string;
  /** Largest frame that is accepted. */
  maxMessageBytes: number;
  /** Shared by all receivers of the thread, made for at least `maxMessageBytes`. */
  buffer: MessageBuffer;
  clock: Clock;
}

/**
 * `snapshot`: the payload is a view of the buffer, valid until anything is received into it. `end`: nothing more follows.
 * `malformed`: frames of another shape. `oversized`: the reply is larger than the limit. `refused`: the endpoint is no
 * recovery endpoint. After the last two nothing can come any more.
 */
export type RecoveryReply =
  | { kind: "snapshot"; watermark: number; payload: Uint8Array }
  | { kind: "end" }
  | { kind: "malformed" }
  | { kind: "oversized" }
  | { kind: "refused" };

const END: RecoveryReply = { kind: "end" };
const MALFORMED: RecoveryReply = { kind: "malformed" };
const OVERSIZED: RecoveryReply = { kind: "oversized" };
const REFUSED: RecoveryReply = { kind: "refused" };

export class RecoveryClient {
  /** For a poller: readable when `receive` has a reply. */
  readonly socket: ZmqSocket;
  readonly #buffer: MessageBuffer;
  readonly #watch: ConnectionWatch;
  readonly #snapshot = { kind: "snapshot" as const, watermark: 0, payload: new Uint8Array(0) as Uint8Array };

  /** Starts connecting. Throws ZmqError for an endpoint that makes no sense. */
  constructor({ context, endpoint, maxMessageBytes, buffer, clock }: RecoveryClientOptions) {
    this.#buffer = buffer;
    const options = {
      maxMessageBytes,
      receiveQueueMessages: RECEIVE_QUEUE_MESSAGES,
      reconnectIntervalMs: RECONNECT_INTERVAL_MS,
    };
    const { socket, watch } = connectWatched(context, clock, "DEALER", options, endpoint);
    this.socket = socket;
    this.#watch = watch;
  }

  /** For a poller: readable when `receive` may learn that nothing will come. */
  get monitorSocket(): ZmqSocket {
    return this.#watch.socket;
  }

  /** Clock time at which `receive` may have something to tell although its sockets are silent; else Infinity. */
  get dueAtMs(): number {
    return this.#watch.dueAtMs;
  }

  /** Sends the request, once; when the endpoint is not up yet it is sent on connecting. `start` is an integer in [0, 2^53). */
  ask(start: number): void {
    assert(this.socket.send([DELIMITER, writeFrameNumber(start)]), "the first message of a connecting DEALER never blocks");
  }

  /** The next reply, as an object that the next call reuses; null when none waits. */
  receive(): RecoveryReply | null {
    switch (this.socket.receive(this.#buffer)) {
      case "message":
        return this.#readReply();
      case "truncated":
        return OVERSIZED;
      case "would-block":
        return this.#connectionReply();
    }
  }

  /** Closes both sockets; a poller must have let go of them. */
  close(): void {
    this.#watch.close();
    this.socket.close();
  }

  #readReply(): RecoveryReply {
    const buffer = this.#buffer;
    if (buffer.frameCount !== 3 || buffer.frameLength(0) !== 0 || buffer.frameLength(1) !== NUMBER_FRAME_BYTES) return MALFORMED;
    if (isEndMarker(buffer.bytes, buffer.frameStart(1))) return buffer.frameLength(2) === 0 ? END : MALFORMED;
    const watermark = readFrameNumber(buffer.bytes, buffer.frameStart(1));
    if (watermark === null) return MALFORMED;
    this.#snapshot.watermark = watermark;
    this.#snapshot.payload = buffer.frame(2);
    return this.#snapshot;
  }

  /** A connection that comes and goes is no reply: the request's timeout judges that. */
  #connectionReply(): RecoveryReply | null {
    for (let event = this.#watch.next(); event !== null; event = this.#watch.next()) {
      if (event === "oversized") return OVERSIZED;
      if (event === "refused") return REFUSED;
    }
    return null;
  }
}

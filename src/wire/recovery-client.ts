/**
 * One recovery request: a DEALER socket of its own asks for the engine's state, or for its last batches, and takes the replies.
 * The next request is another client, so that a late reply to this one can never be taken for its own.
 *
 *   request    "" | start u64
 *   snapshot   "" | watermark u64 | payload                    end   "" | ff×8 | ""
 *   batches    "" | batch sequence u64 | payload, repeated     end   "" | ff×8 | ""
 *     or       "" | topic | batch sequence u64 | payload       end   "" | topic | ff×8 | ""
 */

import { assert } from "#base";
import { type ConnectionWatch, connectWatched } from "./connection-watch.ts";
import { isEndMarker, NUMBER_FRAME_BYTES, readFrameNumber, writeFrameNumber } from "./frame-number.ts";
import type { MessageBuffer } from "./libzmq/message-buffer.ts";
import type { HandshakeFailure } from "./libzmq/monitor.ts";
import type { ZmqSocket } from "./libzmq/socket.ts";
import type { ReceiverOptions } from "./receiver-options.ts";

/** What an engine answers with: its whole state once, or every batch that it still has from the start on, in order. */
export type RecoveryAnswers = "snapshot" | "batches";

/**
 * Messages that may wait in libzmq. A snapshot is two; the queue is for a peer that sends what nobody asked for. Engines keep
 * 10,000 batches and send them all at once, and what does not fit anywhere is dropped in the middle without a word.
 */
const RECEIVE_QUEUE_MESSAGES: Record<RecoveryAnswers, number> = { snapshot: 16, batches: 16_384 };

/** A request waits for its endpoint within the caller's timeout, a few seconds: no backing off. */
const RECONNECT_INTERVAL_MS = 100;

const DELIMITER: Uint8Array = new Uint8Array(0);

export interface RecoveryClientOptions extends ReceiverOptions {
  answers: RecoveryAnswers;
}

/**
 * `snapshot`, `batch`: by what the engine answers with; the payload is a view of the buffer, valid until anything is received
 * into it. `end`: nothing more follows, which does not say that everything before it arrived. `malformed`: frames of another
 * shape. `oversized`: the reply is larger than the limit. `refused`: the endpoint is no recovery endpoint. The others are
 * failures of its handshake, and `handshake-broken-off` is told of an encrypted one alone. After all of these the request has
 * failed.
 */
export type RecoveryReply =
  | { kind: "snapshot"; watermark: number; payload: Uint8Array }
  | { kind: "batch"; batchSeq: number; payload: Uint8Array }
  | { kind: "end" }
  | { kind: "malformed" }
  | { kind: "oversized" }
  | { kind: "refused" }
  | { kind: HandshakeFailure | "handshake-broken-off" };

const END: RecoveryReply = { kind: "end" };
const MALFORMED: RecoveryReply = { kind: "malformed" };
const OVERSIZED: RecoveryReply = { kind: "oversized" };
const REFUSED: RecoveryReply = { kind: "refused" };

export class RecoveryClient {
  /** For a poller: readable when `receive` has a reply. */
  readonly socket: ZmqSocket;
  readonly #buffer: MessageBuffer;
  readonly #watch: ConnectionWatch;
  readonly #answers: RecoveryAnswers;
  readonly #isEncrypted: boolean;
  readonly #snapshot = { kind: "snapshot" as const, watermark: 0, payload: DELIMITER };
  readonly #batch = { kind: "batch" as const, batchSeq: 0, payload: DELIMITER };

  /** Starts connecting. Throws ZmqError for an endpoint that makes no sense. */
  constructor({ context, endpoint, answers, maxMessageBytes, buffer, clock, curve = null }: RecoveryClientOptions) {
    this.#buffer = buffer;
    this.#answers = answers;
    this.#isEncrypted = curve !== null;
    const options = {
      maxMessageBytes,
      receiveQueueMessages: RECEIVE_QUEUE_MESSAGES[answers],
      reconnectIntervalMs: RECONNECT_INTERVAL_MS,
      curve,
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
    const numberFrame = this.#numberFrame();
    if (numberFrame < 0 || buffer.frameLength(numberFrame) !== NUMBER_FRAME_BYTES) return MALFORMED;
    const numberStart = buffer.frameStart(numberFrame);
    const payload = buffer.frame(numberFrame + 1);
    if (isEndMarker(buffer.bytes, numberStart)) return payload.length === 0 ? END : MALFORMED;
    const number = readFrameNumber(buffer.bytes, numberStart);
    return number === null ? MALFORMED : this.#answer(number, payload);
  }

  /** Position of the frame with the number: behind the delimiter, and with batches perhaps behind a topic; -1 for neither. */
  #numberFrame(): number {
    const { frameCount } = this.#buffer;
    const hasTopic = this.#answers === "batches" && frameCount === 4;
    if (!hasTopic && frameCount !== 3) return -1;
    return this.#buffer.frameLength(0) === 0 ? frameCount - 2 : -1;
  }

  #answer(number: number, payload: Uint8Array): RecoveryReply {
    switch (this.#answers) {
      case "snapshot":
        this.#snapshot.watermark = number;
        this.#snapshot.payload = payload;
        return this.#snapshot;
      case "batches":
        this.#batch.batchSeq = number;
        this.#batch.payload = payload;
        return this.#batch;
    }
  }

  /** A connection that comes and goes is no reply: the request's timeout judges that. */
  #connectionReply(): RecoveryReply | null {
    for (let event = this.#watch.next(); event !== null; event = this.#watch.next()) {
      switch (event) {
        case "oversized":
          return OVERSIZED;
        case "refused":
          return REFUSED;
        case "mechanism-mismatch":
        case "handshake-failed":
        case "client-denied":
          return { kind: event };
        case "handshake-broken-off":
          // In the clear it is most likely one that is not up yet.
          if (this.#isEncrypted) return { kind: event };
          break;
        case "connected":
        case "disconnected":
          break;
      }
    }
    return null;
  }
}

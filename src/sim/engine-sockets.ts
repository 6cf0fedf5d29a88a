/**
 * The two sockets of one engine process: PUB for live batches, ROUTER for snapshot requests. They live in a ZeroMQ context of
 * their own, as a process would have: ending it frees the ports at once, so that a restarted engine can bind them again.
 *
 *   live      topic | batch sequence u64 | payload
 *   request   "" | start u64         reply   "" | watermark u64 | payload   then   "" | ff×8 | ""
 */

import { assert } from "#base";
import { type CurveServer, MessageBuffer, ZmqContext, type ZmqSocket } from "#wire";
import { END_OF_SNAPSHOT, encodeBatchSeq } from "./xllm-codec.ts";

/** Batches that wait for one slow subscriber before the engine drops them, as vLLM's publisher has it. */
const SEND_QUEUE_BATCHES = 100_000;

/** Largest frame of a request: 8 bytes are expected, the rest is room to tell a wrong request from a hostile one. */
const REQUEST_FRAME_BYTES_MAX = 64;

const START_BYTES = 8;
const EMPTY = new Uint8Array(0);

export interface EngineEndpoints {
  /** `tcp://host:port` of the PUB and of the ROUTER socket; port 0 lets the system choose. */
  event: string;
  replay: string;
}

/** `malformed` was taken from the socket and is not answered. */
export type SnapshotRequest = { kind: "snapshot"; client: Uint8Array } | { kind: "malformed" };

export class EngineSockets {
  /** Where the sockets are really bound. */
  readonly endpoints: Readonly<EngineEndpoints>;
  readonly #context: ZmqContext;
  readonly #publisher: ZmqSocket;
  readonly #router: ZmqSocket;
  readonly #topic: Uint8Array;
  readonly #request = new MessageBuffer(REQUEST_FRAME_BYTES_MAX);

  /** Binds both sockets. Throws ZmqError when an endpoint is taken, and then leaves nothing open. */
  constructor(endpoints: EngineEndpoints, topic: string, curve: CurveServer | null) {
    this.#topic = new TextEncoder().encode(topic);
    this.#context = ZmqContext.create();
    this.#publisher = this.#context.openSocket("PUB", { sendQueueMessages: SEND_QUEUE_BATCHES, curve });
    this.#router = this.#context.openSocket("ROUTER", { maxMessageBytes: REQUEST_FRAME_BYTES_MAX, curve });
    try {
      this.endpoints = { event: this.#publisher.bind(endpoints.event), replay: this.#router.bind(endpoints.replay) };
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Sends a live batch to whoever is subscribed. */
  publish(batchSeq: number, payload: Uint8Array): void {
    const wasSent = this.#publisher.send([this.#topic, encodeBatchSeq(batchSeq), payload]);
    assert(wasSent, "a PUB socket drops for slow subscribers and never blocks");
  }

  /** The next request that waits, or null. Its client is valid until the next call. */
  takeRequest(): SnapshotRequest | null {
    const request = this.#request;
    const result = this.#router.receive(request);
    if (result === "would-block") return null;
    const isRequest = result === "message" && request.frameCount === 3 && request.frameLength(1) === 0;
    if (!isRequest || request.frameLength(2) !== START_BYTES) return { kind: "malformed" };
    return { kind: "snapshot", client: request.frame(0) };
  }

  /** Sends a snapshot and its end; a client that has left, or reads too slowly, misses them. */
  answer(client: Uint8Array, watermark: number, payload: Uint8Array): void {
    this.#router.send([client, EMPTY, encodeBatchSeq(watermark), payload]);
    this.#router.send([client, EMPTY, END_OF_SNAPSHOT, EMPTY]);
  }

  /** Closes both sockets and frees their ports; what was not sent yet is lost. */
  close(): void {
    this.#publisher.close();
    this.#router.close();
    this.#context.terminate();
  }
}

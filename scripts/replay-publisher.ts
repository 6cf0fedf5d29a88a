/**
 * Plays a recording as the engine did: a PUB socket sends the messages at their times, a ROUTER socket answers replay requests
 * from the batches sent so far.
 *
 *   request   "" | start u64        reply   "" | batch sequence u64 | payload, each      end   "" | ff×8 | ""
 */

import { MessageBuffer, ZmqContext, type ZmqSocket } from "#wire";
import type { RecordingEntry } from "./recording.ts";

/** A replay is queued whole for a client that reads at its own pace. */
const QUEUE_MESSAGES = 1_000_000;

const REQUEST_FRAME_BYTES_MAX = 64;
const NUMBER_BYTES = 8;
const EMPTY = new Uint8Array(0);
const END = new Uint8Array(NUMBER_BYTES).fill(0xff);

/** Between messages at least so often requests are looked at. */
const TURN_MS = 20;

export interface ReplayPublisherOptions {
  endpoint: string;
  replayEndpoint: string;
}

export class ReplayPublisher {
  /** Where the sockets are really bound. */
  readonly endpoint: string;
  readonly replayEndpoint: string;
  readonly #context = ZmqContext.create();
  readonly #publisher: ZmqSocket;
  readonly #router: ZmqSocket;
  readonly #request = new MessageBuffer(REQUEST_FRAME_BYTES_MAX);
  /** What was sent, for replays: at most the recording, which is in memory already. */
  readonly #sent: { number: bigint; frames: Uint8Array[] }[] = [];

  /** Binds both sockets; throws ZmqError when an endpoint is taken, and then leaves nothing open. */
  constructor({ endpoint, replayEndpoint }: ReplayPublisherOptions) {
    this.#publisher = this.#context.openSocket("PUB", { sendQueueMessages: QUEUE_MESSAGES });
    this.#router = this.#context.openSocket("ROUTER", {
      sendQueueMessages: QUEUE_MESSAGES,
      maxMessageBytes: REQUEST_FRAME_BYTES_MAX,
    });
    try {
      this.endpoint = this.#publisher.bind(endpoint);
      this.replayEndpoint = this.#router.bind(replayEndpoint);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Sends a message as it was recorded; one of another shape than a batch is sent too, and cannot be replayed. */
  send(frames: Uint8Array[]): void {
    this.#publisher.send(frames);
    const [, number, payload] = frames;
    if (frames.length === 3 && number.length === NUMBER_BYTES)
      this.#sent.push({ number: readNumber(number), frames: [number, payload] });
  }

  /** Answers the requests that wait; the start of each one that is answered. */
  answerRequests(): bigint[] {
    const starts: bigint[] = [];
    for (
      let result = this.#router.receive(this.#request);
      result !== "would-block";
      result = this.#router.receive(this.#request)
    ) {
      const isRequest = result === "message" && this.#request.frameCount === 3 && this.#request.frameLength(2) === NUMBER_BYTES;
      if (!isRequest) continue; // as an engine does
      const client = this.#request.frame(0).slice();
      const start = readNumber(this.#request.frame(2));
      for (const { number, frames } of this.#sent) if (number >= start) this.#router.send([client, EMPTY, ...frames]);
      this.#router.send([client, EMPTY, END, EMPTY]);
      starts.push(start);
    }
    return starts;
  }

  close(): void {
    this.#publisher.close();
    this.#router.close();
    this.#context.terminate();
  }
}

export interface PlayOptions {
  /** Times as fast as recorded; Infinity for without a pause. */
  speed: number;
  signal: AbortSignal;
  onRequest(start: bigint): void;
}

/** Sends all messages of `entries` at their times; resolves after the last, or at `signal`. */
export async function play(publisher: ReplayPublisher, entries: readonly RecordingEntry[], options: PlayOptions): Promise<void> {
  const { speed, signal, onRequest } = options;
  const startedAtMs = performance.now();
  for (const entry of entries) {
    if (entry.kind !== "message") continue;
    for (;;) {
      publisher.answerRequests().forEach(onRequest);
      const waitMs = entry.atMs / speed - (performance.now() - startedAtMs);
      if (waitMs <= 0 || signal.aborted) break;
      await Bun.sleep(Math.min(waitMs, TURN_MS));
    }
    if (signal.aborted) return;
    publisher.send(entry.frames);
  }
}

/** Goes on answering requests until `signal`. */
export async function answerUntil(publisher: ReplayPublisher, { signal, onRequest }: Omit<PlayOptions, "speed">): Promise<void> {
  while (!signal.aborted) {
    publisher.answerRequests().forEach(onRequest);
    await Bun.sleep(TURN_MS);
  }
}

function readNumber(frame: Uint8Array): bigint {
  return new DataView(frame.buffer, frame.byteOffset).getBigUint64(0);
}

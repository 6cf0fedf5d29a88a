/**
 * A small vLLM-like publisher over real sockets: PUB for live batches, ROUTER for replays from its last batches. Tests choose what
 * subscribers do not hear.
 */

import { encodeEventBatch, type KvCacheEvent, MessageBuffer, ZmqContext, type ZmqSocket } from "#wire";

/** How often requests are looked at; an engine takes up to 100 ms. */
const TURN_MS = 2;

const EMPTY = new Uint8Array(0);
const END = new Uint8Array(8).fill(0xff);

export interface EnginePublisherOptions {
  endpoint?: string;
  replayEndpoint?: string;
  topic?: string;
  /** Batches kept for replay. */
  bufferBatches?: number;
  /** Since vLLM 0.26 replies name the topic. */
  repliesNameTopic?: boolean;
}

export class EnginePublisher {
  readonly endpoint: string;
  readonly replayEndpoint: string;
  /** First batch sequence that each request so far has asked for. */
  readonly requests: number[] = [];
  readonly #context = ZmqContext.create();
  readonly #publisher: ZmqSocket;
  readonly #router: ZmqSocket;
  readonly #topic: Uint8Array;
  readonly #options: Required<Pick<EnginePublisherOptions, "bufferBatches" | "repliesNameTopic">>;
  readonly #buffer: Uint8Array[][] = [];
  readonly #request = new MessageBuffer(64);
  readonly #subscriptions = new MessageBuffer(256);
  readonly #turns: Timer;
  #next = 0;

  constructor(options: EnginePublisherOptions = {}) {
    const { endpoint = "tcp://127.0.0.1:0", replayEndpoint = "tcp://127.0.0.1:0", topic = "" } = options;
    const { bufferBatches = 10_000, repliesNameTopic = false } = options;
    this.#options = { bufferBatches, repliesNameTopic };
    this.#topic = new TextEncoder().encode(topic);
    this.#publisher = this.#context.openSocket("XPUB", { sendQueueMessages: 100_000 });
    this.#router = this.#context.openSocket("ROUTER", { sendQueueMessages: 100_000 });
    this.endpoint = this.#publisher.bind(endpoint);
    this.replayEndpoint = this.#router.bind(replayEndpoint);
    this.#turns = setInterval(() => this.#answerRequests(), TURN_MS);
  }

  /** Resolves when a subscription has come (or gone): what is published now is heard. */
  async untilSubscribed(): Promise<void> {
    while (this.#publisher.receive(this.#subscriptions) === "would-block") await Bun.sleep(1);
  }

  /** Publishes a batch of `events`, which nobody hears when it `isLost`, and returns its payload. */
  publish(events: readonly KvCacheEvent[], { isLost = false } = {}): Uint8Array {
    const payload = encodeEventBatch({ timestampSeconds: Date.now() / 1000, events, dataParallelRank: 0 }, "vllm-9");
    this.send(this.#next, payload, { isLost });
    this.#next += 1;
    return payload;
  }

  /** Publishes any payload under any number, and keeps it for replay. */
  send(batchSeq: number, payload: Uint8Array, { isLost = false } = {}): void {
    this.#buffer.push([numberFrame(batchSeq), payload]);
    if (this.#buffer.length > this.#options.bufferBatches) this.#buffer.shift();
    if (!isLost) this.#publisher.send([this.#topic, numberFrame(batchSeq), payload]);
  }

  /** Sends frames of any shape. */
  sendFrames(frames: Uint8Array[]): void {
    this.#publisher.send(frames);
  }

  /** Ends as a killed process does: ports are free at once. */
  close(): void {
    clearInterval(this.#turns);
    this.#publisher.close();
    this.#router.close();
    this.#context.terminate();
  }

  #answerRequests(): void {
    const topic = this.#options.repliesNameTopic ? [this.#topic] : [];
    while (this.#router.receive(this.#request) !== "would-block") {
      // Whoever takes this port for another's may send anything.
      if (this.#request.frameCount !== 3 || this.#request.frameLength(2) !== 8) continue;
      const client = this.#request.frame(0).slice();
      const start = this.#request.frame(2).slice();
      const startNumber = new DataView(start.buffer).getBigUint64(0);
      this.requests.push(Number(startNumber));
      for (const [number, payload] of this.#buffer) {
        if (new DataView(number.buffer).getBigUint64(0) < startNumber) continue;
        this.#router.send([client, EMPTY, ...topic, number, payload]);
      }
      this.#router.send([client, EMPTY, ...topic, END, EMPTY]);
    }
  }
}

export function numberFrame(value: number): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(8);
  new DataView(frame.buffer).setBigUint64(0, BigInt(value));
  return frame;
}

/** One block of four tokens under a hash. */
export function stored(blockHash: bigint): KvCacheEvent {
  return {
    type: "BlockStored",
    blockHashes: [blockHash],
    parentBlockHash: null,
    tokenIds: [1, 2, 3, 4],
    blockSize: 4,
    medium: "GPU",
  };
}

/** A thread that decodes and applies batches while something else is measured: its start, its speed, its end. */

import { assert } from "#base";
import type { IndexHandle } from "#index";
import type { PromptCorpusOptions } from "./prompt-corpus.ts";

/** Blocks stored a second, as evenly as batches allow; or as fast as the thread can. */
export type Pace = number | "full-speed";

export interface LoadOrder {
  index: IndexHandle;
  corpus: PromptCorpusOptions;
  pace: Pace;
  control: SharedArrayBuffer;
}

/** Words of `control`. */
export const CONTROL = { IS_STOPPING: 0, BLOCKS_STORED: 1, WORDS: 2 } as const;

/** Longer than any script takes to be encoded. */
const START_TIMEOUT_MS = 30_000;

export class IngestLoad {
  readonly #worker: Worker;
  readonly #control: Int32Array;
  readonly #startedAtMs: number;
  readonly #blocksAtStart: number;

  private constructor(worker: Worker, control: Int32Array) {
    this.#worker = worker;
    this.#control = control;
    this.#blocksAtStart = Atomics.load(control, CONTROL.BLOCKS_STORED);
    this.#startedAtMs = performance.now();
  }

  /** Hands the index over to the thread, its only writer from now on; done when the thread applies batches. */
  static async start(order: Omit<LoadOrder, "control">): Promise<IngestLoad> {
    const control = new SharedArrayBuffer(CONTROL.WORDS * 4);
    const worker = new Worker(new URL("./ingest-load.thread.ts", import.meta.url).href);
    const started = Promise.withResolvers<void>();
    const timer = setTimeout(() => started.reject(new Error("Cannot start the load: its thread is silent")), START_TIMEOUT_MS);
    worker.onmessage = () => started.resolve();
    worker.onerror = ({ message }) => started.reject(new Error(`Cannot start the load: ${message}`));
    worker.postMessage({ ...order, control } satisfies LoadOrder);
    try {
      await started.promise;
    } finally {
      clearTimeout(timer);
    }
    return new IngestLoad(worker, new Int32Array(control));
  }

  /** Ends the thread after the batch at hand; blocks that it stored per second since `start`. */
  async stop(): Promise<number> {
    const blocks = Atomics.load(this.#control, CONTROL.BLOCKS_STORED) - this.#blocksAtStart;
    const seconds = (performance.now() - this.#startedAtMs) / 1000;
    const ended = new Promise((resolve) => this.#worker.addEventListener("close", resolve));
    Atomics.store(this.#control, CONTROL.IS_STOPPING, 1);
    await ended;
    assert(blocks > 0, "the load stored blocks");
    return blocks / seconds;
  }
}

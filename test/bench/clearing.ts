/** A thread that fills one stream and clears it when told to, time after time, while this thread does something else. */

import { assert } from "#base";
import type { IndexHandle } from "#index";
import type { PromptCorpusOptions } from "./prompt-corpus.ts";

export interface ClearingOrder {
  index: IndexHandle;
  corpus: PromptCorpusOptions;
  /** The stream to fill and clear; it holds nothing, and nobody else writes meanwhile. */
  stream: number;
  /** Blocks to fill it with, none of them in the index: a multiple of a prompt's. */
  blocks: number;
  control: SharedArrayBuffer;
}

/** Words of `control`. */
export const CONTROL = { PHASE: 0, CLEARING_US: 1, WORDS: 2 } as const;

/** The thread leaves FILLING and CLEARING by itself, and waits in FILLED to be told to clear or to end. */
export const PHASE = { FILLING: 0, FILLED: 1, CLEARING: 2, ENDING: 3 } as const;

/** Far above what filling and clearing take. */
const FILL_TIMEOUT_MS = 60_000;
const CLEAR_TIMEOUT_MS = 10_000;

export class Clearing {
  readonly #worker: Worker;
  readonly #control: Int32Array;
  #failure: string | null = null;

  constructor(order: Omit<ClearingOrder, "control">) {
    const control = new SharedArrayBuffer(CONTROL.WORDS * 4);
    this.#control = new Int32Array(control);
    this.#worker = new Worker(new URL("./clearing.thread.ts", import.meta.url).href);
    this.#worker.onerror = ({ message }) => {
      this.#failure = message;
    };
    this.#worker.postMessage({ ...order, control } satisfies ClearingOrder);
  }

  /** Once the stream is filled, has it cleared and calls `meanwhile`, at least once, until that is done. Milliseconds it took. */
  async clear(meanwhile: () => void): Promise<number> {
    await this.#filled();
    const deadlineMs = performance.now() + CLEAR_TIMEOUT_MS;
    this.#enter(PHASE.CLEARING);
    do meanwhile();
    while (this.#phase === PHASE.CLEARING && performance.now() < deadlineMs);
    assert(this.#phase !== PHASE.CLEARING, `clearing ends within ${CLEAR_TIMEOUT_MS} ms`);
    return Atomics.load(this.#control, CONTROL.CLEARING_US) / 1000;
  }

  /** Ends the thread, which has filled the stream once more. */
  async end(): Promise<void> {
    await this.#filled();
    const ended = new Promise((resolve) => this.#worker.addEventListener("close", resolve));
    this.#enter(PHASE.ENDING);
    await ended;
  }

  get #phase(): number {
    return Atomics.load(this.#control, CONTROL.PHASE);
  }

  async #filled(): Promise<void> {
    const deadlineMs = performance.now() + FILL_TIMEOUT_MS;
    while (this.#phase === PHASE.FILLING) {
      assert(this.#failure === null && performance.now() < deadlineMs, `the stream is filled in time: ${this.#failure}`);
      await Bun.sleep(1);
    }
  }

  #enter(phase: number): void {
    Atomics.store(this.#control, CONTROL.PHASE, phase);
    Atomics.notify(this.#control, CONTROL.PHASE);
  }
}

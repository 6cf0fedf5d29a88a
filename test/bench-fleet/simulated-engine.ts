/**
 * One engine in virtual time. Requests wait in one queue; the first is prefilled as soon as there is room for it, one prompt at a time,
 * and decoding rests meanwhile. The others decode together, a token each in every step.
 */

import { assert } from "#base";
import type { LoadReport } from "#domain";
import type { Admission, BlockNeed, CacheChange } from "./engine-cache.ts";
import { EngineCache } from "./engine-cache.ts";
import {
  contextTokens,
  DEVICE_BLOCKS,
  HOST_BLOCKS,
  loadMs,
  prefillMs,
  RUNNING_REQUESTS_MAX,
  reusableBlocks,
  stepMs,
} from "./engine-model.ts";
import { BLOCK_TOKENS, type TracedRequest } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface EngineListener {
  /** The cache has changed by what is told, in this order. */
  cacheChanged(changes: readonly CacheChange[]): void;
  /** The prompt is computed, but for what was cached, and its first token is there. */
  firstToken(request: TracedRequest, cachedTokens: number): void;
}

interface Decoding {
  readonly request: TracedRequest;
  readonly need: BlockNeed;
  /** The engine's count of steps when it has its last token. */
  readonly lastStep: number;
}

export class SimulatedEngine {
  readonly #time: VirtualTime;
  readonly #listener: EngineListener;
  readonly #cache = new EngineCache(DEVICE_BLOCKS, HOST_BLOCKS);
  readonly #queue: TracedRequest[] = [];
  readonly #decoding = new Set<Decoding>();
  #contextTokens = 0;
  #isPrefilling = false;
  /** Decode steps done by `#stepsAtMs`; steps are counted in fractions, so that a change of the batch needs no rounding. */
  #steps = 0;
  #stepsAtMs = 0;
  /** What is planned for a batch that has changed since is void. */
  #batchVersion = 0;
  #busyMs = 0;

  constructor(time: VirtualTime, listener: EngineListener) {
    this.#time = time;
    this.#listener = listener;
  }

  get load(): LoadReport {
    return { waitingRequests: this.#queue.length, cacheUsage: this.#cache.usage };
  }

  /** Time spent prefilling so far, what is under way included. */
  get prefillBusyMs(): number {
    return this.#busyMs;
  }

  submit(request: TracedRequest): void {
    this.#queue.push(request);
    if (!this.#isPrefilling) this.#goOn();
  }

  /** Starts the next prefill if there can be one, else goes on decoding. */
  #goOn(): void {
    this.#countSteps();
    const [next] = this.#queue;
    if (next !== undefined && this.#decoding.size < RUNNING_REQUESTS_MAX) {
      const need = needOf(next);
      const admission = this.#cache.admit(need);
      if (admission !== null) {
        this.#queue.shift();
        this.#prefill(next, need, admission);
        return;
      }
      assert(this.#decoding.size > 0, `an idle engine has room for request ${next.id}`);
    }
    this.#decode();
  }

  #prefill(request: TracedRequest, need: BlockNeed, { cachedBlocks, loadedBlocks, evictions, stored }: Admission): void {
    const cachedTokens = cachedBlocks * BLOCK_TOKENS;
    const durationMs = loadMs(loadedBlocks) + prefillMs(request.inputTokens, cachedTokens);
    this.#isPrefilling = true;
    this.#busyMs += durationMs;
    this.#batchVersion++;
    if (evictions.length > 0) this.#listener.cacheChanged(evictions);
    this.#time.after(durationMs, () => {
      this.#isPrefilling = false;
      this.#stepsAtMs = this.#time.nowMs;
      if (stored !== null) this.#listener.cacheChanged([stored]);
      this.#listener.firstToken(request, cachedTokens);
      this.#decoding.add({ request, need, lastStep: this.#steps + request.outputTokens - 1 });
      this.#contextTokens += contextTokens(request);
      this.#endDecoded();
      this.#goOn();
    });
  }

  /** Goes on until the first request of the batch has its last token. */
  #decode(): void {
    const version = ++this.#batchVersion;
    if (this.#decoding.size === 0) return;
    let steps = Number.POSITIVE_INFINITY;
    for (const { lastStep } of this.#decoding) steps = Math.min(steps, lastStep - this.#steps);
    this.#time.after(Math.max(0, steps) * stepMs(this.#contextTokens), () => {
      if (version !== this.#batchVersion) return;
      this.#countSteps();
      this.#endDecoded();
      this.#goOn();
    });
  }

  #endDecoded(): void {
    for (const decoding of this.#decoding) {
      if (decoding.lastStep - this.#steps > STEP_TOLERANCE) continue;
      this.#decoding.delete(decoding);
      this.#contextTokens -= contextTokens(decoding.request);
      this.#cache.release(decoding.need);
    }
  }

  #countSteps(): void {
    if (this.#decoding.size > 0) this.#steps += (this.#time.nowMs - this.#stepsAtMs) / stepMs(this.#contextTokens);
    this.#stepsAtMs = this.#time.nowMs;
  }
}

/** What fractions of steps may be off by. */
const STEP_TOLERANCE = 1e-6;

/** The room for the whole answer is taken at once, so that nothing running is ever pushed out. Answers are not kept for others. */
function needOf(request: TracedRequest): BlockNeed {
  const allBlocks = Math.ceil((request.inputTokens + request.outputTokens) / BLOCK_TOKENS);
  return { blocks: request.blocks, ownBlocks: allBlocks - request.blocks.length, reusableBlocks: reusableBlocks(request) };
}

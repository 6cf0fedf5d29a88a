/**
 * Which prefixes an instance is about to hold: a prompt sent there is credited for a short window, until its blocks are announced.
 * Without it, equal prompts that arrive together would spread over the fleet and be computed by each.
 *
 * What is credited is closed under prefixes: `record` credits all prefixes of a prompt to the same moment, and only whole
 * generations are let go. So the longest credited prefix is found by bisection.
 */

import type { PromptKeys } from "./prompt-keys.ts";

/** Prefixes of one generation at most, with the last prompt's beyond it; two generations are kept of each instance. */
const PREFIXES_MAX = 8192;

interface Generation {
  startedAtMs: number;
  /** Until when a prefix is credited, by its key. */
  readonly expiresAtMs: Map<number, number>;
}

/** What one instance is credited with. */
interface Credits {
  recent: Generation;
  older: Generation;
}

export class PredictedResidency {
  readonly #windowMs: number;
  readonly #prefixesMax: number;
  readonly #byInstance = new Map<string, Credits>();

  /** `windowMs` 0: nothing is ever predicted. */
  constructor(windowMs: number, prefixesMax: number = PREFIXES_MAX) {
    this.#windowMs = windowMs;
    this.#prefixesMax = prefixesMax;
  }

  get isEnabled(): boolean {
    return this.#windowMs > 0;
  }

  /** Prefixes credited to all instances, and those whose window has ended of late. */
  get size(): number {
    let prefixes = 0;
    for (const { recent, older } of this.#byInstance.values()) prefixes += recent.expiresAtMs.size + older.expiresAtMs.size;
    return prefixes;
  }

  /** True when the instance was sent anything within the last windows; else `tokens` answers 0 and needs no keys. */
  has(instanceName: string): boolean {
    return this.#byInstance.has(instanceName);
  }

  /** The instance is credited with the prompt from now until the window ends. `nowMs` never goes back. */
  record(instanceName: string, { keys }: PromptKeys, nowMs: number): void {
    if (!this.isEnabled || keys.length === 0) return;
    const { expiresAtMs } = this.#generation(instanceName, nowMs);
    for (const key of keys) expiresAtMs.set(key, nowMs + this.#windowMs);
  }

  /**
   * Tokens of the longest prefix of the prompt that the instance is credited with, where that is longer than `beyondTokens`;
   * else 0. Costs one or two look-ups when it is not, and a few more when it is.
   */
  tokens(instanceName: string, prompt: PromptKeys, beyondTokens: number, nowMs: number): number {
    const credits = this.#byInstance.get(instanceName);
    if (credits === undefined) return 0;
    const beyond = Math.floor(beyondTokens / prompt.strideTokens);
    const recent = longest(credits.recent, prompt.keys, beyond, nowMs);
    const strides = longest(credits.older, prompt.keys, recent, nowMs);
    return strides > beyond ? strides * prompt.strideTokens : 0;
  }

  forgetInstance(instanceName: string): void {
    this.#byInstance.delete(instanceName);
  }

  reset(): void {
    this.#byInstance.clear();
  }

  /** Lets go of what has expired: the instances that nothing was sent to for a window. */
  sweep(nowMs: number): void {
    for (const [name, { recent }] of this.#byInstance) {
      // A generation takes prefixes for one window, and the last of them expires one window later.
      if (nowMs - recent.startedAtMs >= 2 * this.#windowMs) this.#byInstance.delete(name);
    }
  }

  /** Where the instance's next prompt goes: a new generation when the present one is full or a window old. */
  #generation(instanceName: string, nowMs: number): Generation {
    const credits = this.#byInstance.get(instanceName);
    if (credits === undefined) {
      const recent = newGeneration(nowMs);
      this.#byInstance.set(instanceName, { recent, older: newGeneration(nowMs) });
      return recent;
    }
    const isFull = credits.recent.expiresAtMs.size >= this.#prefixesMax;
    if (isFull || nowMs - credits.recent.startedAtMs >= this.#windowMs) {
      credits.older = credits.recent;
      credits.recent = newGeneration(nowMs);
    }
    return credits.recent;
  }
}

function newGeneration(nowMs: number): Generation {
  return { startedAtMs: nowMs, expiresAtMs: new Map() };
}

/** How many of the keys are credited, where that is more than `beyond`; else `beyond`. */
function longest(generation: Generation, keys: Float64Array, beyond: number, nowMs: number): number {
  // The first look decides for most instances: nothing beyond what is measured.
  if (beyond >= keys.length || !isCredited(generation, keys[beyond], nowMs)) return beyond;
  let credited = beyond + 1;
  let tooMany = keys.length + 1;
  while (tooMany - credited > 1) {
    const middle = (credited + tooMany) >> 1;
    if (isCredited(generation, keys[middle - 1], nowMs)) credited = middle;
    else tooMany = middle;
  }
  return credited;
}

function isCredited({ expiresAtMs }: Generation, key: number, nowMs: number): boolean {
  return (expiresAtMs.get(key) ?? Number.NEGATIVE_INFINITY) > nowMs;
}

/**
 * Several engines that share one site's chat traffic: each prompt goes to an engine picked at random, so that the turns of a
 * conversation are spread and engines hold prefixes of different length of the same prompts.
 */

import { assert } from "#base";
import { type ChatTrafficOptions, chatTraffic, SMALL_SITE } from "./chat-traffic.ts";
import { SimulatedEngine } from "./engine.ts";
import type { PrefixCacheOptions } from "./prefix-cache.ts";
import { SeededRandom } from "./random.ts";

export interface FleetOptions {
  /** Engines, named `engine-1:8000`, `engine-2:8000` and so on. */
  size: number;
  /** Of each engine; their chain seeds count up from `chainSeed`. */
  cache?: PrefixCacheOptions;
  traffic?: ChatTrafficOptions;
}

/** Blocks as xLLM has them, and tiers that SMALL_SITE overfills on four engines, so that they offload and evict. */
const SMALL_CACHE: PrefixCacheOptions = {
  blockSize: 128,
  deviceBlocksMax: 192,
  hostBlocksMax: 256,
  chainSeed: 1n,
  offloadForm: "without-tokens",
};

/** Prompts that `findPrompt` looks through: more than a fleet of small caches holds. */
const REMEMBERED_PROMPTS = 256;

export interface Placement {
  /** Holds every full block of the prompt, on any tier. */
  fullyAt: SimulatedEngine;
  /** Holds the prompt's first block, but not all of it. */
  partlyAt: SimulatedEngine;
}

export class SimulatedFleet {
  readonly engines: readonly SimulatedEngine[];
  readonly #prompts: Iterator<Uint32Array, never>;
  readonly #random: SeededRandom;
  /** Newest last. */
  readonly #remembered: Uint32Array[] = [];

  /** Opens the engines on free loopback ports, with empty caches. Throws ZmqError or LibzmqNotFoundError. */
  constructor({ size, cache = SMALL_CACHE, traffic = SMALL_SITE }: FleetOptions) {
    this.engines = Array.from({ length: size }, (_, index) => {
      return new SimulatedEngine({
        name: `engine-${index + 1}:8000`,
        cache: { ...cache, chainSeed: BigInt.asUintN(64, cache.chainSeed + BigInt(index)) },
      });
    });
    this.#prompts = chatTraffic(traffic);
    this.#random = new SeededRandom(traffic.seed);
  }

  /** Lets a random engine take one scheduler step with the next prompt. */
  step(): void {
    const prompt = this.#prompts.next().value;
    this.engines[this.#random.integerBelow(this.engines.length)].step([prompt]);
    this.#remembered.push(prompt);
    if (this.#remembered.length > REMEMBERED_PROMPTS) this.#remembered.shift();
  }

  /** The newest prompt that is held like that now, or null where there is none among those remembered. */
  findPrompt({ fullyAt, partlyAt }: Placement): Uint32Array | null {
    assert(fullyAt !== partlyAt, "no engine holds a prompt fully and partly");
    const isPlaced = (prompt: Uint32Array) => heldShare(fullyAt, prompt) === "all" && heldShare(partlyAt, prompt) === "prefix";
    return this.#remembered.findLast(isPlaced) ?? null;
  }

  close(): void {
    for (const engine of this.engines) engine.close();
  }
}

function heldShare(engine: SimulatedEngine, prompt: Uint32Array): "none" | "prefix" | "all" {
  const blocks = engine.cache.holds(prompt);
  const firstAbsent = blocks.findIndex((tiers) => tiers.length === 0);
  if (blocks.length === 0 || firstAbsent === 0) return "none";
  return firstAbsent === -1 ? "all" : "prefix";
}

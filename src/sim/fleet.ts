/**
 * Several engines that share one site's chat traffic: each prompt goes to an engine picked at random, so that the turns of a
 * conversation are spread and engines hold prefixes of different length of the same prompts.
 */

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

export class SimulatedFleet {
  readonly engines: readonly SimulatedEngine[];
  readonly #prompts: Iterator<Uint32Array, never>;
  readonly #random: SeededRandom;

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
    const engine = this.engines[this.#random.integerBelow(this.engines.length)];
    engine.step([this.#prompts.next().value]);
  }

  close(): void {
    for (const engine of this.engines) engine.close();
  }
}

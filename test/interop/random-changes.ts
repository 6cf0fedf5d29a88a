/**
 * What an engine's steps do to its cache, by dice: it fills, offloads and evicts along the prompts. Blocks are evicted with their
 * descendants, since a snapshot leaves orphans out while deltas keep them. Where copies count, each block has one on a tier at
 * most, since the peer's own state does not count them.
 */

import type { Tier } from "#domain";
import type { SeededRandom } from "#sim";
import { type Block, chain } from "./blocks.ts";
import { type CacheEvent, CLEARED, offloaded, removed, stored } from "./cache-event.ts";
import type { PeerEngine } from "./peer-engine.ts";

/** Nine prompts: three trunks of six blocks with three leaves of six blocks each. */
export const TRAFFIC_PROMPTS: readonly (readonly Block[])[] = [0, 1, 2].flatMap((trunkNumber) => {
  const trunk = chain(`trunk ${trunkNumber}`, 6);
  return [0, 1, 2].map((leaf) => [...trunk, ...chain(`leaf ${leaf}`, 6, trunk[5])]);
});

export class RandomChanges {
  readonly #peer: PeerEngine;
  readonly #random: SeededRandom;
  readonly #prompts: readonly (readonly Block[])[];

  /** Of blocks of these prompts alone, of which there is at least one. */
  constructor(peer: PeerEngine, random: SeededRandom, prompts: readonly (readonly Block[])[] = TRAFFIC_PROMPTS) {
    this.#peer = peer;
    this.#random = random;
    this.#prompts = prompts;
  }

  /** What one engine step may do to the peer's cache as it is; sometimes nothing that changes it. */
  next(): CacheEvent[] {
    const { cache } = this.#peer;
    const prompt = this.prompt();
    const tier: Tier = this.#random.integerBelow(4) === 0 ? "host" : "device";
    const dice = this.#random.integerBelow(24);
    if (dice === 0) return [CLEARED];
    if (dice === 1) return [CLEARED, stored(prompt), offloaded(prompt.slice(0, this.#length()))];
    if (dice < 5) return [offloaded(prompt.filter((block) => cache.isOn("device", block) && !cache.isOn("host", block)))];
    if (dice < 8) {
      const onBoth = prompt.filter((block) => cache.isOn("device", block) && cache.isOn("host", block));
      return [removed(onBoth, tier)];
    }
    if (dice < 12) return this.#evict(prompt[this.#random.integerBelow(prompt.length)]);
    return this.stores(prompt.slice(0, this.#length()), tier);
  }

  /** Stores these blocks; where copies count, those that the tier does not hold. */
  stores(blocks: readonly Block[], tier: Tier): CacheEvent[] {
    const { cache, engine } = this.#peer;
    if (engine === "xllm") return [stored(blocks, tier)];
    return blocks.flatMap((block) => (cache.isOn(tier, block) ? [] : [stored([block], tier)]));
  }

  prompt(): readonly Block[] {
    return this.#prompts[this.#random.integerBelow(this.#prompts.length)];
  }

  /** Takes a block and its descendants from both tiers, the last ones first. */
  #evict({ hash }: Block): CacheEvent[] {
    const subtree = this.#prompts.flatMap((prompt) => {
      const from = prompt.findIndex((block) => block.hash === hash);
      return from < 0 ? [] : prompt.slice(from).reverse();
    });
    return [removed(subtree), removed(subtree, "host")];
  }

  #length(): number {
    return this.#random.integerBetween(1, 12);
  }
}

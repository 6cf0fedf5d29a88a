/**
 * One tier of a prefix cache: blocks in order of use, never more than its capacity. Chains are used from their end to their
 * root, so an ancestor is always more recent than its descendants and taking the oldest block takes a leaf.
 */

import { assert } from "#base";
import type { Block } from "./block-chain.ts";

export class RecencyTier {
  readonly blocksMax: number;
  /** Insertion order is order of use, oldest first. */
  readonly #blocks = new Map<bigint, Block>();

  constructor(blocksMax: number) {
    this.blocksMax = blocksMax;
  }

  get size(): number {
    return this.#blocks.size;
  }

  get isFull(): boolean {
    return this.#blocks.size >= this.blocksMax;
  }

  has(hash: bigint): boolean {
    return this.#blocks.has(hash);
  }

  /** Oldest first. */
  blocks(): Iterable<Block> {
    return this.#blocks.values();
  }

  /** Puts the blocks in, or marks those that are in as used; the first of `chain`, its root, becomes the most recent. */
  use(chain: readonly Block[]): void {
    for (let index = chain.length - 1; index >= 0; index--) {
      const block = chain[index];
      this.#blocks.delete(block.hash);
      this.#blocks.set(block.hash, block);
    }
    assert(this.#blocks.size <= this.blocksMax, `a tier of ${this.blocksMax} blocks holds no more than that`);
  }

  /** The `count` blocks whose last use is the longest ago, oldest first; they stay in. */
  oldest(count: number): Block[] {
    return this.#blocks.values().take(count).toArray();
  }

  /** Takes the block out; false when it was not in. */
  remove(hash: bigint): boolean {
    return this.#blocks.delete(hash);
  }

  clear(): void {
    this.#blocks.clear();
  }
}

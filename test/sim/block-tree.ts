/** The prompts of one simulation: a small tree of blocks, each node a block under its parent's, and a prompt down to each node. */

import type { SeededRandom } from "#sim";

const DEPTH_MAX = 6;

export class BlockTree {
  /** Parent of each block; -1 for a root. A parent comes before its children. */
  readonly parents: readonly number[];
  readonly #blockSize: number;

  constructor(random: SeededRandom, size: number, blockSize: number) {
    const parents: number[] = [];
    const depths: number[] = [];
    for (let block = 0; block < size; block++) {
      const parent = random.integerBelow(block + 1) - 1;
      const isRoot = parent < 0 || depths[parent] === DEPTH_MAX;
      parents.push(isRoot ? -1 : parent);
      depths.push(isRoot ? 1 : depths[parent] + 1);
    }
    this.parents = parents;
    this.#blockSize = blockSize;
  }

  get size(): number {
    return this.parents.length;
  }

  /** Blocks from the root to this one. */
  path(block: number): number[] {
    const parent = this.parents[block];
    return parent < 0 ? [block] : [...this.path(parent), block];
  }

  /** Blocks that no other continues: the prompts down to them pass every block of the tree. */
  get leaves(): number[] {
    return this.parents.map((_, block) => block).filter((block) => !this.parents.includes(block));
  }

  /** The tokens of these blocks, one after the other. */
  tokens(blocks: readonly number[]): Uint32Array {
    const size = this.#blockSize;
    return Uint32Array.from({ length: blocks.length * size }, (_, n) => blocks[Math.floor(n / size)] * size + (n % size));
  }
}

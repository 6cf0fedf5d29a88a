/**
 * Prompts that share their beginnings, with the engine hashes of their blocks, so that a few small numbers describe any event:
 * prompt p leaves the trunk, which is prompt 0, at block `branches[p]`.
 *
 *   trunk   0 1 2 3 4 5 6 7        equal numbers are equal contents
 *   p = 1   0 1 10 11 12 13 …      for branches[1] = 2
 *
 * Under a namespace the contents are others from the first block on that it applies to.
 */

import type { Namespace, Tier } from "#domain";
import type { Announcement } from "./announcements.ts";
import type { HashOf } from "./engine-hashes.ts";

/** A stretch of a prompt's blocks. */
export interface Stretch {
  prompt: number;
  /** Position in the forest's list. */
  namespace: number;
  from: number;
  count: number;
}

const NO_PARENT = { hasParent: false, parentLow: 0, parentHigh: 0 };

export class PromptForest {
  readonly blockSize: number;
  readonly prompts: readonly Uint32Array[];
  readonly namespaces: readonly (Namespace | null)[];
  readonly #blocks: number;
  readonly #branches: readonly number[];
  readonly #hashOf: HashOf;

  constructor(
    blockSize: number,
    blocks: number,
    branches: readonly number[],
    hashOf: HashOf,
    namespaces: readonly (Namespace | null)[] = [null],
  ) {
    this.blockSize = blockSize;
    this.namespaces = namespaces;
    this.#blocks = blocks;
    this.#branches = branches;
    this.#hashOf = hashOf;
    this.prompts = branches.map((_, prompt) => {
      return Uint32Array.from({ length: blocks * blockSize }, (_, n) => this.#plainContent(prompt, Math.floor(n / blockSize)));
    });
  }

  /** The blocks with their tokens, behind the block before them. `disguised`: under other hashes than usual. */
  stored(stretch: Stretch, tier: Tier, disguised: boolean): Announcement {
    const { prompt, namespace, from } = stretch;
    const hashLanes = this.#hashLanes(stretch, disguised);
    const hashCount = hashLanes.length / 2;
    const [parentLow, parentHigh] = from === 0 ? [0, 0] : this.#hashOf(this.#content(prompt, namespace, from - 1));
    const tokens = this.prompts[prompt].subarray(from * this.blockSize, (from + hashCount) * this.blockSize);
    const parent = { hasParent: from > 0, parentLow, parentHigh };
    const covered = { tokens, tokenCount: tokens.length, blockSize: this.blockSize, namespace: this.#part(stretch) };
    return (sink) => sink.blockStored({ hashLanes, hashCount, ...parent, ...covered, tier });
  }

  /** The same blocks announced on one more tier, without tokens. */
  storedWithoutTokens(stretch: Stretch, tier: Tier): Announcement {
    const hashLanes = this.#hashLanes(stretch, false);
    const noTokens = { ...NO_PARENT, tokens: new Uint32Array(0), tokenCount: 0, blockSize: 0, namespace: null };
    return (sink) => sink.blockStored({ hashLanes, hashCount: hashLanes.length / 2, ...noTokens, tier });
  }

  /** One block of a size that is not the streams'. */
  storedInBlocksOf(blockSize: number, tier: Tier): Announcement {
    const tokens = new Uint32Array(blockSize);
    const covered = { tokens, tokenCount: blockSize, blockSize, namespace: null };
    return (sink) => sink.blockStored({ hashLanes: Uint32Array.of(1, 1), hashCount: 1, ...NO_PARENT, ...covered, tier });
  }

  removed(stretch: Stretch, tier: Tier, disguised: boolean): Announcement {
    const hashLanes = this.#hashLanes(stretch, disguised);
    return (sink) => sink.blockRemoved({ hashLanes, hashCount: hashLanes.length / 2, tier });
  }

  #plainContent(prompt: number, block: number): number {
    return block < this.#branches[prompt] ? block : prompt * this.#blocks + block;
  }

  #content(prompt: number, namespace: number, block: number): number {
    const isPlain = block < firstBlockOf(this.namespaces[namespace]);
    return this.#plainContent(prompt, block) + (isPlain ? 0 : namespace * this.prompts.length * this.#blocks);
  }

  /** The namespace as an event of this stretch tells it. */
  #part({ namespace, from, count }: Stretch): Namespace | null {
    const whole = this.namespaces[namespace];
    return whole === null ? null : { root: whole.root, extraKeys: whole.extraKeys?.slice(from, from + count) ?? null };
  }

  /** Hashes of the stretch as far as the prompt goes. */
  #hashLanes({ prompt, namespace, from, count }: Stretch, disguised: boolean): Uint32Array {
    const blocks = Math.min(count, this.#blocks - from);
    const lanes = new Uint32Array(blocks * 2);
    for (let n = 0; n < blocks; n++) {
      const [low, high] = this.#hashOf(this.#content(prompt, namespace, from + n));
      lanes[n * 2] = disguised ? low ^ 0x55555555 : low;
      lanes[n * 2 + 1] = high;
    }
    return lanes;
  }
}

/** The first block that the namespace applies to. */
function firstBlockOf(namespace: Namespace | null): number {
  if (namespace === null) return 0;
  return namespace.root === null ? (namespace.extraKeys?.findIndex((bytes) => bytes !== null) ?? 0) : 0;
}

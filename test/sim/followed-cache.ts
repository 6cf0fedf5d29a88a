/**
 * The blocks of a publisher as somebody sees them who has followed its batches: the publisher itself from its first change on, or
 * a stream that joined later and so does not know what was stored before.
 */

import type { CacheTier } from "#sim";

/** Per block of the tree the tiers that hold it, as a sum of DEVICE and HOST. */
export type Holdings = Uint8Array;

export const DEVICE = 1;
export const HOST = 2;

export type Change =
  /** Each block of the run continues the one before; without tokens it only adds a tier to blocks that are known. */
  | { kind: "stored"; tier: CacheTier; run: readonly number[]; hasTokens: boolean }
  | { kind: "removed"; tier: CacheTier; block: number }
  | { kind: "cleared" };

export interface FollowedCacheOptions {
  /** Parent of each block of the tree; -1 for a root. */
  parents: readonly number[];
  /** Whether stores are counted, so that as many removals are needed; else a store is presence. */
  isCounted: boolean;
  /** An index keeps room for so many blocks, and begins to forget removed ones beyond it. */
  blocksMax: number;
}

export class FollowedCache {
  readonly #options: FollowedCacheOptions;
  readonly #copies: Record<CacheTier, Uint8Array>;
  readonly #known: Uint8Array;
  #knownBlocks = 0;
  #isExact = true;

  constructor(options: FollowedCacheOptions) {
    this.#options = options;
    const size = options.parents.length;
    this.#copies = { device: new Uint8Array(size), host: new Uint8Array(size) };
    this.#known = new Uint8Array(size);
  }

  /** False once an index may have forgotten a removed block, so that later stores behind it are left out. */
  get isExact(): boolean {
    return this.#isExact;
  }

  get holdings(): Holdings {
    const { device, host } = this.#copies;
    return device.map((copies, block) => (copies > 0 ? DEVICE : 0) + (host[block] > 0 ? HOST : 0));
  }

  copies(tier: CacheTier, block: number): number {
    return this.#copies[tier][block];
  }

  apply(change: Change): void {
    switch (change.kind) {
      case "stored":
        this.#store(change);
        break;
      case "removed":
        this.#remove(change.tier, change.block);
        break;
      case "cleared":
        for (const lanes of [this.#copies.device, this.#copies.host, this.#known]) lanes.fill(0);
        this.#knownBlocks = 0;
        this.#isExact = true;
        break;
    }
  }

  #store({ tier, run, hasTokens }: Change & { kind: "stored" }): void {
    const parent = this.#options.parents[run[0]];
    if (hasTokens && parent >= 0 && this.#known[parent] === 0) return;
    for (const block of run) {
      if (!hasTokens && this.#known[block] === 0) continue;
      if (this.#known[block] === 0) this.#knownBlocks += 1;
      this.#known[block] = 1;
      this.#copies[tier][block] = this.#options.isCounted ? this.#copies[tier][block] + 1 : 1;
    }
    if (this.#knownBlocks > this.#options.blocksMax) this.#isExact = false;
  }

  #remove(tier: CacheTier, block: number): void {
    const copies = this.#copies[tier];
    copies[block] = this.#options.isCounted ? Math.max(0, copies[block] - 1) : 0;
  }
}

/**
 * The KV memory of one simulated engine: blocks that running requests hold, blocks that only wait to be used again, the oldest of which
 * make room, and their copies on the host. What changes is told in the order in which it does.
 */

import { assert } from "#base";

type CacheTier = "device" | "host";

/** Blocks that came to a tier or left it. Those that came to the device are in the order of their prompt. */
export interface CacheChange {
  readonly kind: "stored" | "removed";
  readonly tier: CacheTier;
  readonly blocks: readonly number[];
}

/** What a request needs: a block for each of its prompt's, and blocks of its own that nobody else can use. */
export interface BlockNeed {
  readonly blocks: readonly number[];
  readonly ownBlocks: number;
  /** Blocks of the prompt that may be reused. */
  readonly reusableBlocks: number;
}

export interface Admission {
  /** Blocks of the prompt's prefix that are reused, and those among them that must be loaded from the host. */
  readonly cachedBlocks: number;
  readonly loadedBlocks: number;
  /** What made room; takes effect now. */
  readonly evictions: readonly CacheChange[];
  /** What the device holds when the prompt has been computed. */
  readonly stored: CacheChange | null;
}

export class EngineCache {
  readonly #deviceBlocksMax: number;
  readonly #hostBlocksMax: number;
  /** How many running requests hold a block. */
  readonly #held = new Map<number, number>();
  /** On the device and held by no request, the longest unused first; of a chain, leaves before their parents. */
  readonly #idle = new Set<number>();
  /** The longest unused first. */
  readonly #host = new Set<number>();
  #ownBlocks = 0;

  constructor(deviceBlocksMax: number, hostBlocksMax: number) {
    this.#deviceBlocksMax = deviceBlocksMax;
    this.#hostBlocksMax = hostBlocksMax;
  }

  /** Share of the device's blocks that running requests hold. */
  get usage(): number {
    return (this.#held.size + this.#ownBlocks) / this.#deviceBlocksMax;
  }

  /** Takes the blocks for a request until it is released; null while there is no room for them. */
  admit({ blocks, ownBlocks, reusableBlocks }: BlockNeed): Admission | null {
    const missing = blocks.filter((block) => !this.#isOnDevice(block));
    const shortage = this.#held.size + this.#idle.size + this.#ownBlocks + missing.length + ownBlocks - this.#deviceBlocksMax;
    const idleWanted = blocks.reduce((count, block) => count + (this.#idle.has(block) ? 1 : 0), 0);
    if (shortage > this.#idle.size - idleWanted) return null;

    const cached = blocks.slice(0, reusableBlocks);
    const firstAbsent = cached.findIndex((block) => !this.#isOnDevice(block) && !this.#host.has(block));
    if (firstAbsent >= 0) cached.length = firstAbsent;
    const loaded = cached.filter((block) => !this.#isOnDevice(block));
    // A use of the copy, so that making room does not push it out.
    for (const block of loaded.toReversed()) this.#putOnHost(block);
    for (const block of blocks) this.#hold(block);
    this.#ownBlocks += ownBlocks;
    return {
      cachedBlocks: cached.length,
      loadedBlocks: loaded.length,
      evictions: shortage > 0 ? this.#evict(shortage) : [],
      stored: missing.length > 0 ? { kind: "stored", tier: "device", blocks: missing } : null,
    };
  }

  /** The request is done: its prompt's blocks stay as long as nobody needs their room. */
  release({ blocks, ownBlocks }: BlockNeed): void {
    this.#ownBlocks -= ownBlocks;
    for (const block of blocks.toReversed()) {
      const holders = this.#held.get(block) ?? 0;
      assert(holders > 0, `block ${block} is held`);
      if (holders > 1) this.#held.set(block, holders - 1);
      else {
        this.#held.delete(block);
        this.#idle.add(block);
      }
    }
  }

  #isOnDevice(block: number): boolean {
    return this.#held.has(block) || this.#idle.has(block);
  }

  #hold(block: number): void {
    this.#idle.delete(block);
    this.#held.set(block, (this.#held.get(block) ?? 0) + 1);
  }

  /** The copy comes first: who listens knows a block that moves to the host from the device. */
  #evict(count: number): CacheChange[] {
    const evicted = [...this.#idle.values().take(count)];
    const copied = this.#hostBlocksMax === 0 ? [] : evicted.filter((block) => this.#putOnHost(block));
    for (const block of evicted) this.#idle.delete(block);
    const dropped = [...this.#host.values().take(Math.max(0, this.#host.size - this.#hostBlocksMax))];
    for (const block of dropped) this.#host.delete(block);
    const changes: CacheChange[] = [
      { kind: "stored", tier: "host", blocks: copied },
      { kind: "removed", tier: "device", blocks: evicted },
      { kind: "removed", tier: "host", blocks: dropped },
    ];
    return changes.filter(({ blocks }) => blocks.length > 0);
  }

  /** Marks the block as used last; false when it was there already. */
  #putOnHost(block: number): boolean {
    const isNew = !this.#host.delete(block);
    this.#host.add(block);
    return isNew;
  }
}

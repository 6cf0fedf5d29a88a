/**
 * The prefix cache of one engine rank as pure data: what is on the device, what was offloaded to the host, and the events that
 * tell others. Replaying the events in order gives the cache's state, within the capacity of both tiers after every event, and
 * a block is stored only while its parent is held. Equal calls give equal events.
 */

import { assert } from "#base";
import { type Block, chainBlocks } from "./block-chain.ts";
import type { CacheTier, EngineEvent, OffloadForm } from "./engine-event.ts";
import { RecencyTier } from "./recency-tier.ts";

export interface PrefixCacheOptions {
  /** Tokens per block, at least 1. */
  blockSize: number;
  /** Capacity of the device tier, at least 1. */
  deviceBlocksMax: number;
  /** Capacity of the host tier; 0 when the engine does not offload. */
  hostBlocksMax: number;
  /** Start of the engine's hash chains, unsigned 64 bits. */
  chainSeed: bigint;
  offloadForm: OffloadForm;
}

export interface Admission {
  /** What changed, in order; empty when everything was on the device already. */
  events: EngineEvent[];
  /** Tokens of the prompt's prefix that were on either tier before. */
  cachedTokens: number;
}

const NO_TOKENS = new Uint32Array(0);

export class PrefixCache {
  readonly #options: PrefixCacheOptions;
  readonly #device: RecencyTier;
  readonly #host: RecencyTier;

  constructor(options: PrefixCacheOptions) {
    assert(options.blockSize >= 1 && options.deviceBlocksMax >= 1 && options.hostBlocksMax >= 0, "a cache has room for a block");
    this.#options = options;
    this.#device = new RecencyTier(options.deviceBlocksMax);
    this.#host = new RecencyTier(options.hostBlocksMax);
  }

  get deviceBlocks(): number {
    return this.#device.size;
  }

  get hostBlocks(): number {
    return this.#host.size;
  }

  /**
   * Brings the prompt's full blocks onto the device: loads from the host what is there, computes the rest, and evicts the
   * oldest blocks to make room. A prompt larger than the device keeps only as many of its first blocks as fit.
   */
  admit(prompt: Uint32Array): Admission {
    const chain = this.#chain(prompt, this.#device.blocksMax);
    const deviceCount = prefixLength(chain, (block) => this.#device.has(block.hash));
    const cachedCount = prefixLength(chain, (block) => this.#holds(block.hash));
    const missing = chain.slice(deviceCount);
    const events: EngineEvent[] = [];

    // Used first, so that making room does not evict what this prompt is about to need.
    this.#device.use(chain.slice(0, deviceCount));
    this.#makeRoom(missing.length, events);
    this.#device.use(chain);
    if (missing.length > 0) events.push(this.#stored("device", missing));
    return { events, cachedTokens: cachedCount * this.#options.blockSize };
  }

  /**
   * Drops the prompt's last full block from every tier, as after a failed load. Its descendants stay, out of reach until the
   * block returns: the one way by which this cache comes to hold a block without its parent.
   */
  invalidate(prompt: Uint32Array): EngineEvent[] {
    const block = this.#chain(prompt).at(-1);
    if (block === undefined) return [];
    const events: EngineEvent[] = [];
    if (this.#device.remove(block.hash)) events.push({ kind: "removed", tier: "device", hashes: [block.hash] });
    if (this.#host.remove(block.hash)) events.push({ kind: "removed", tier: "host", hashes: [block.hash] });
    return events;
  }

  /** Drops everything on both tiers. */
  clear(): EngineEvent[] {
    this.#device.clear();
    this.#host.clear();
    return [{ kind: "cleared" }];
  }

  /** The whole state as events with tokens: parents first, each block once per tier that holds it, device before host. */
  snapshot(): EngineEvent[] {
    const held = new Map<bigint, Block>();
    for (const block of this.#device.blocks()) held.set(block.hash, block);
    for (const block of this.#host.blocks()) held.set(block.hash, block);
    const parentsFirst = [...held.values()].sort((left, right) => left.depth - right.depth);
    return parentsFirst.flatMap((block) => this.#tiersOf(block.hash).map((tier) => this.#stored(tier, [block])));
  }

  /** For each full block of the prompt the tiers that hold it, fastest first; empty where none does. */
  holds(prompt: Uint32Array): CacheTier[][] {
    return this.#chain(prompt).map((block) => this.#tiersOf(block.hash));
  }

  #makeRoom(count: number, events: EngineEvent[]): void {
    const excess = this.#device.size + count - this.#device.blocksMax;
    if (excess <= 0) return;
    const evicted = this.#device.oldest(excess);
    // Offload comes first: a host event without tokens can only name blocks that its readers still know from the device.
    for (const block of evicted) this.#offload(block, events);
    for (const block of evicted) this.#device.remove(block.hash);
    events.push({ kind: "removed", tier: "device", hashes: evicted.map((block) => block.hash) });
  }

  /** Copies a block to the host. A block without its parent is not worth the room. */
  #offload(block: Block, events: EngineEvent[]): void {
    if (this.#host.has(block.hash)) {
      // Leaving the device is a use of the copy, so that on the host too a parent stays more recent than its descendants.
      this.#host.use([block]);
      return;
    }
    const isOrphan = block.parentHash !== null && !this.#holds(block.parentHash);
    if (isOrphan || this.#host.blocksMax === 0) return;
    if (this.#host.isFull) {
      const [oldest] = this.#host.oldest(1);
      this.#host.remove(oldest.hash);
      events.push({ kind: "removed", tier: "host", hashes: [oldest.hash] });
    }
    this.#host.use([block]);
    events.push(this.#options.offloadForm === "with-tokens" ? this.#stored("host", [block]) : placeholder("host", block.hash));
  }

  #stored(tier: CacheTier, run: readonly Block[]): EngineEvent {
    const { blockSize } = this.#options;
    const tokens = new Uint32Array(run.length * blockSize);
    run.forEach((block, index) => {
      tokens.set(block.tokens, index * blockSize);
    });
    const parentHash = run[0].parentHash;
    return { kind: "stored", tier, hashes: run.map((block) => block.hash), parentHash, tokens, blockSize };
  }

  #chain(prompt: Uint32Array, blocksMax = Number.POSITIVE_INFINITY): Block[] {
    return chainBlocks(prompt, this.#options.blockSize, this.#options.chainSeed, blocksMax);
  }

  #holds(hash: bigint): boolean {
    return this.#device.has(hash) || this.#host.has(hash);
  }

  #tiersOf(hash: bigint): CacheTier[] {
    const tiers: CacheTier[] = [];
    if (this.#device.has(hash)) tiers.push("device");
    if (this.#host.has(hash)) tiers.push("host");
    return tiers;
  }
}

function placeholder(tier: CacheTier, hash: bigint): EngineEvent {
  return { kind: "stored", tier, hashes: [hash], parentHash: null, tokens: NO_TOKENS, blockSize: 0 };
}

function prefixLength(chain: readonly Block[], isHeld: (block: Block) => boolean): number {
  const firstAbsent = chain.findIndex((block) => !isHeld(block));
  return firstAbsent === -1 ? chain.length : firstAbsent;
}

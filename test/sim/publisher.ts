/**
 * One engine process as a pure model: what it holds, the batches that say how that changed, and what it held after each of
 * them. Like a prefix cache it holds a block only while it holds the parent.
 */

import { type CacheTier, type EngineEvent, encodeBatch, type SeededRandom } from "#sim";
import type { BlockTree } from "./block-tree.ts";

/** Per block of the tree the tiers that hold it, as a sum of DEVICE and HOST. */
export type Holdings = Uint8Array;

export const DEVICE = 1;
export const HOST = 2;
const TIERS: readonly { tier: CacheTier; bit: number }[] = [
  { tier: "device", bit: DEVICE },
  { tier: "host", bit: HOST },
];

/** Engine hashes are few, so that the processes of one publisher give the same ones to different blocks. */
const HASHES = 32;

export interface PublisherOptions {
  tree: BlockTree;
  blockSize: number;
  rank: number;
  /** Number of the first batch: 1, or 0 as some engines count. */
  firstBatchSeq: number;
  /** What the process holds before it has published anything. */
  holdings: Holdings;
  /** Stores stay below this, but for `fill`. */
  blocksMax: number;
  /** Distinguishes the process's engine hashes from its predecessor's. */
  salt: number;
}

export interface Batch {
  batchSeq: number;
  payload: Uint8Array;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #random: SeededRandom;
  readonly #holdings: Holdings;
  readonly #history = new Map<number, Holdings[]>();
  #batchSeq: number;

  constructor(options: PublisherOptions, random: SeededRandom) {
    this.#options = options;
    this.#random = random;
    this.#holdings = options.holdings.slice();
    this.#batchSeq = options.firstBatchSeq - 1;
    this.#remember();
  }

  /** The last batch; 0 before the first. */
  get watermark(): number {
    return Math.max(this.#batchSeq, 0);
  }

  get blocks(): number {
    return this.#holdings.filter((tiers) => tiers !== 0).length;
  }

  /** What it holds now. */
  get holdings(): Holdings {
    return this.#holdings;
  }

  /**
   * What was held after the batch; nothing for one that was never published. 0 names two states of a process that counts from
   * 0: before its first batch and after it.
   */
  after(batchSeq: number): readonly Holdings[] {
    return this.#history.get(batchSeq) ?? [];
  }

  /** A batch of a few changes, or of none. */
  change(): Batch {
    const events: EngineEvent[] = [];
    for (let changes = this.#random.integerBelow(5); changes > 0; changes--) this.#changeOnce(events);
    return this.#publish(events);
  }

  /** A batch that fills the cache with every block of the tree. */
  fill(): Batch {
    const events: EngineEvent[] = [];
    for (const leaf of this.#options.tree.leaves) this.#store(leaf, events, this.#options.tree.size);
    return this.#publish(events);
  }

  clear(): Batch {
    this.#holdings.fill(0);
    return this.#publish([{ kind: "cleared" }]);
  }

  /** A batch that is the whole state after some more changes; a plain one where there is nothing to store. */
  fullState(): Batch {
    this.#changeOnce([]);
    return this.#publish([{ kind: "cleared" }, ...this.#snapshotEvents()]);
  }

  snapshot(): Batch {
    return { batchSeq: this.watermark, payload: encodeBatch(this.#snapshotEvents(), this.#options.rank, 0) };
  }

  #publish(events: readonly EngineEvent[]): Batch {
    this.#batchSeq += 1;
    this.#remember();
    return { batchSeq: this.#batchSeq, payload: encodeBatch(events, this.#options.rank, 0) };
  }

  #remember(): void {
    this.#history.set(this.watermark, [...this.after(this.watermark), this.#holdings.slice()]);
  }

  #changeOnce(events: EngineEvent[]): void {
    const block = this.#random.integerBelow(this.#options.tree.size);
    const choice = this.#random.integerBelow(20);
    if (choice < 8) this.#store(block, events);
    else if (choice < 11) this.#offload(block, events);
    else if (choice < 19) this.#remove(block, events);
    else {
      this.#holdings.fill(0);
      events.push({ kind: "cleared" });
    }
  }

  /** The prompt down to the block comes onto the device. */
  #store(block: number, events: EngineEvent[], blocksMax = this.#options.blocksMax): void {
    const path = this.#options.tree.path(block);
    const first = path.findIndex((node) => (this.#holdings[node] & DEVICE) === 0);
    if (first < 0 || this.blocks + path.length - first > blocksMax) return;
    for (const node of path.slice(first)) this.#holdings[node] |= DEVICE;
    events.push(this.#stored("device", path.slice(first)));
  }

  /** A block on the device is copied to the host: announced with its tokens, or without. */
  #offload(block: number, events: EngineEvent[]): void {
    if (this.#holdings[block] !== DEVICE) return;
    this.#holdings[block] |= HOST;
    const placeholder: EngineEvent = {
      kind: "stored",
      tier: "host",
      hashes: [this.#hash(block)],
      parentHash: null,
      tokens: new Uint32Array(0),
      blockSize: 0,
    };
    events.push(this.#random.integerBelow(2) === 0 ? placeholder : this.#stored("host", [block]));
  }

  /** A block leaves a tier, unless that would leave its children without it; removing what is not there changes nothing. */
  #remove(block: number, events: EngineEvent[]): void {
    const { tier, bit } = TIERS[this.#random.integerBelow(2)];
    const hasChildren = this.#options.tree.parents.some((parent, node) => parent === block && this.#holdings[node] !== 0);
    if (this.#holdings[block] === bit && hasChildren) return;
    this.#holdings[block] &= ~bit;
    events.push({ kind: "removed", tier, hashes: [this.#hash(block)] });
  }

  #snapshotEvents(): EngineEvent[] {
    const events: EngineEvent[] = [];
    this.#holdings.forEach((tiers, block) => {
      for (const { tier, bit } of TIERS) if ((tiers & bit) !== 0) events.push(this.#stored(tier, [block]));
    });
    return events;
  }

  #stored(tier: CacheTier, run: readonly number[]): EngineEvent {
    const { tree, blockSize } = this.#options;
    const parent = tree.parents[run[0]];
    const parentHash = parent < 0 ? null : this.#hash(parent);
    return { kind: "stored", tier, hashes: run.map((node) => this.#hash(node)), parentHash, tokens: tree.tokens(run), blockSize };
  }

  #hash(block: number): bigint {
    return BigInt.asUintN(64, BigInt((block * 5 + this.#options.salt) % HASHES) * 0x9e3779b97f4a7c15n);
  }
}

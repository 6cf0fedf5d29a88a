/**
 * One engine process as a pure model: what it holds, the batches that say how that changed, and what it held after each of
 * them. Like a prefix cache it holds a block only while it holds the parent.
 */

import { type CacheTier, encodeBatch, type SeededRandom } from "#sim";
import type { BlockTree } from "./block-tree.ts";
import { ChangeEvents } from "./change-events.ts";
import { type Change, DEVICE, FollowedCache, HOST, type Holdings } from "./followed-cache.ts";
import { JoinedCaches, type PartialHoldings } from "./joined-caches.ts";

const TIERS: readonly { tier: CacheTier; bit: number }[] = [
  { tier: "device", bit: DEVICE },
  { tier: "host", bit: HOST },
];

/** Engines whose streams recover from a replay give their batches any rank. */
const RANKS = 4;

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
  /** True for vLLM and SGLang: stores are copies that are removed one by one, and the batch's rank says nothing. */
  isCounted: boolean;
  /** Batches that it can repeat. */
  bufferedMax: number;
}

export interface Batch {
  batchSeq: number;
  payload: Uint8Array;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #random: SeededRandom;
  readonly #cache: FollowedCache;
  readonly #events: ChangeEvents;
  readonly #history = new Map<number, Holdings[]>();
  readonly #joined: JoinedCaches | null;
  readonly #buffered: Batch[] = [];
  #batchSeq: number;

  constructor(options: PublisherOptions, random: SeededRandom) {
    this.#options = options;
    this.#random = random;
    const { tree, blockSize, salt, isCounted, blocksMax } = options;
    const follow = () => new FollowedCache({ parents: tree.parents, isCounted, blocksMax });
    this.#cache = follow();
    this.#events = new ChangeEvents(tree, blockSize, salt);
    this.#joined = isCounted ? new JoinedCaches(follow) : null;
    options.holdings.forEach((tiers, block) => {
      for (const { tier, bit } of TIERS) if ((tiers & bit) !== 0) this.#cache.apply(stored(tier, [block]));
    });
    this.#batchSeq = options.firstBatchSeq - 1;
    this.#remember();
  }

  /** The last batch; 0 before the first. */
  get watermark(): number {
    return Math.max(this.#batchSeq, 0);
  }

  get blocks(): number {
    return this.holdings.filter((tiers) => tiers !== 0).length;
  }

  /** What it holds now. */
  get holdings(): Holdings {
    return this.#cache.holdings;
  }

  /**
   * What was held after the batch; nothing for one that was never published. 0 names two states of a process that counts from
   * 0: before its first batch and after it.
   */
  after(batchSeq: number): readonly Holdings[] {
    return this.#history.get(batchSeq) ?? [];
  }

  /** What streams may know after the batch that joined before it or right after it. */
  knownInPart(batchSeq: number): readonly PartialHoldings[] {
    return this.#joined?.after(batchSeq) ?? [];
  }

  /** The batches from this one on that it still has. */
  replay(start: number): Batch[] {
    return this.#buffered.filter(({ batchSeq }) => batchSeq >= start);
  }

  /** A batch of a few changes, or of none. */
  change(): Batch {
    return this.#publish(this.#changes());
  }

  /** Changes whose batch is never sent, nor kept: its number is missing for ever. */
  changeUnheard(): void {
    this.#publish(this.#changes());
    this.#buffered.pop();
    this.#joined?.miss(this.watermark);
  }

  /** Changes whose batch nobody can decode, now or later. */
  changeUnreadably(): Batch {
    const { batchSeq, payload } = this.#publish(this.#changes());
    const batch = { batchSeq, payload: payload.subarray(0, this.#random.integerBelow(payload.length)) };
    this.#buffered.splice(-1, 1, batch);
    this.#joined?.miss(this.watermark);
    return batch;
  }

  /** A batch that fills the cache with every block of the tree. */
  fill(): Batch {
    const changes: Change[] = [];
    for (const leaf of this.#options.tree.leaves) this.#store(leaf, changes, this.#options.tree.size);
    return this.#publish(changes);
  }

  clear(): Batch {
    const changes: Change[] = [];
    this.#do({ kind: "cleared" }, changes);
    return this.#publish(changes);
  }

  /** A batch that is the whole state after some more changes; a plain one where there is nothing to store. */
  fullState(): Batch {
    this.#changeOnce([]);
    const whole = this.#wholeState();
    const changes: Change[] = [];
    for (const change of [{ kind: "cleared" } as const, ...whole]) this.#do(change, changes);
    return this.#publish(changes);
  }

  snapshot(): Batch {
    return { batchSeq: this.watermark, payload: this.#encode(this.#wholeState()) };
  }

  #publish(changes: readonly Change[]): Batch {
    this.#batchSeq += 1;
    this.#remember();
    this.#joined?.hear(this.watermark, changes);
    const batch = { batchSeq: this.#batchSeq, payload: this.#encode(changes) };
    this.#buffered.push(batch);
    if (this.#buffered.length > this.#options.bufferedMax) this.#buffered.shift();
    return batch;
  }

  #remember(): void {
    this.#history.set(this.watermark, [...this.after(this.watermark), this.holdings]);
  }

  /** Makes the change, and notes it. */
  #do(change: Change, changes: Change[]): void {
    this.#cache.apply(change);
    changes.push(change);
  }

  #changes(): Change[] {
    const changes: Change[] = [];
    for (let count = this.#random.integerBelow(5); count > 0; count--) this.#changeOnce(changes);
    return changes;
  }

  #changeOnce(changes: Change[]): void {
    const block = this.#random.integerBelow(this.#options.tree.size);
    const choice = this.#random.integerBelow(20);
    if (choice < 8) this.#store(block, changes);
    else if (choice < 11) this.#offload(block, changes);
    else if (choice < 19) this.#remove(block, changes);
    else this.#do({ kind: "cleared" }, changes);
  }

  /** The prompt down to the block comes onto the device; where copies count, some of it perhaps once more. */
  #store(block: number, changes: Change[], blocksMax = this.#options.blocksMax): void {
    const path = this.#options.tree.path(block);
    const missing = path.findIndex((node) => this.#cache.copies("device", node) === 0);
    const added = missing < 0 ? 0 : path.length - missing;
    if (this.blocks + added > blocksMax) return;
    const isAgain = this.#options.isCounted && this.#random.integerBelow(3) === 0;
    const first = isAgain ? this.#random.integerBelow(missing < 0 ? path.length : missing + 1) : missing;
    if (first >= 0) this.#do(stored("device", path.slice(first)), changes);
  }

  /** A block on the device is copied to the host: announced with its tokens, or without. */
  #offload(block: number, changes: Change[]): void {
    if (this.holdings[block] !== DEVICE) return;
    const hasTokens = this.#random.integerBelow(2) === 0;
    this.#do({ ...stored("host", [block]), hasTokens }, changes);
  }

  /** A block leaves a tier, unless that would leave its children without it; removing what is not there changes nothing. */
  #remove(block: number, changes: Change[]): void {
    const { tier, bit } = TIERS[this.#random.integerBelow(2)];
    const { holdings } = this;
    const hasChildren = this.#options.tree.parents.some((parent, node) => parent === block && holdings[node] !== 0);
    const isLast = holdings[block] === bit && this.#cache.copies(tier, block) === 1;
    if (isLast && hasChildren) return;
    this.#do({ kind: "removed", tier, block }, changes);
  }

  #wholeState(): Change[] {
    const changes: Change[] = [];
    this.holdings.forEach((_tiers, block) => {
      for (const { tier } of TIERS) {
        for (let copy = this.#cache.copies(tier, block); copy > 0; copy--) changes.push(stored(tier, [block]));
      }
    });
    return changes;
  }

  #encode(changes: readonly Change[]): Uint8Array {
    const { isCounted, rank, salt } = this.#options;
    const events = changes.map((change) => this.#events.of(change));
    // The timestamp tells the batches of two processes apart, even when they say the same.
    return encodeBatch(events, isCounted ? this.#random.integerBelow(RANKS) : rank, salt);
  }
}

function stored(tier: CacheTier, run: readonly number[]): Change & { kind: "stored" } {
  return { kind: "stored", tier, run, hasTokens: true };
}

/**
 * The writing face of the index, for the ingest thread alone. A batch is begun, its events arrive, and it is committed: a
 * reader sees the stream's state before the batch or after it. Whatever goes wrong within a batch is its `problem`; the
 * caller then fails the batch, and the stream scores zero hits until it is replaced whole.
 */

import { assert } from "#base";
import {
  type BlockRemoved,
  type BlockStored,
  type KvEventSink,
  SKIP_REASONS,
  type SkipReason,
  TIER_CODE,
  type Unsynchronized,
  unsynchronized,
} from "#domain";
import type { KernelExports } from "./kernel/load.ts";
import { attachKernel, bytesInUse, type IndexHandle, reasonCode } from "./memory.ts";

/** Tokens, and hashes, of one call into the kernel; assembly/layout.ts has the area. */
const STORE_TOKENS_MAX = 65_536;

// Outcomes of the kernel's stores; assembly/stream-writer.ts has them too.
const STORED = 0;
const BLOCK_LIMIT = 1;

/** What the index must know of a stream to write it. */
export interface WrittenStream {
  /** Its bit, 0 to maxStreams - 1. */
  id: number;
  blockSize: number;
  hashSeed: number;
  /** True: removals must be as many as stores of a block on a tier. False: a store is presence, one removal removes. */
  counted: boolean;
}

/** What a batch is to the stream. */
export type BatchKind =
  /** Changes to the state that the stream has; a block whose parent is unknown is a problem. */
  | "changes"
  /** The whole state, parents first; a block whose parent is missing is left out with its descendants. */
  | "state";

export class KvIndexWriter implements KvEventSink {
  readonly #kernel: KernelExports;
  readonly #limits: IndexHandle["limits"];
  readonly #tokens: Uint32Array;
  readonly #hashes: Uint32Array;
  #stream: WrittenStream = { id: 0, blockSize: 1, hashSeed: 0, counted: false };
  #kind: BatchKind = "changes";
  #batchSeq = 0;
  #isOpen = false;
  #problem: Unsynchronized | null = null;
  #skipped: Uint32Array = new Uint32Array(SKIP_REASONS.length);

  constructor(handle: IndexHandle) {
    this.#kernel = attachKernel(handle, 0);
    this.#limits = handle.limits;
    this.#tokens = new Uint32Array(handle.memory.buffer, this.#kernel.storeTokensAddress(), STORE_TOKENS_MAX);
    this.#hashes = new Uint32Array(handle.memory.buffer, this.#kernel.storeHashesAddress(), STORE_TOKENS_MAX * 2);
  }

  /** A new stream, empty and unsynchronized for `reason`. The id must be free. */
  openStream(stream: WrittenStream, reason: Unsynchronized): void {
    this.fail(stream, reason);
  }

  /** Takes the stream and all its blocks out of the index. */
  closeStream(stream: WrittenStream): void {
    this.fail(stream, unsynchronized("closed"));
    this.#kernel.emptyStream();
  }

  /** Starts a batch; `skipped` counts events left out by reason, in the order of SKIP_REASONS. */
  begin(stream: WrittenStream, kind: BatchKind, batchSeq: number, skipped: Uint32Array): void {
    assert(!this.#isOpen, "a batch is ended before the next begins");
    this.#select(stream);
    this.#isOpen = true;
    this.#kind = kind;
    this.#setBatch(batchSeq);
    this.#skipped = skipped;
    this.#problem = null;
    if (kind === "state") this.#beginState();
  }

  /** What follows are changes to the state that was begun, as of this batch. */
  continueWithChanges(batchSeq: number): void {
    this.#kind = "changes";
    this.#setBatch(batchSeq);
  }

  /** Whether the state that was begun holds no block so far. */
  get isStateEmpty(): boolean {
    return this.#kernel.blocksInState() === 0;
  }

  /** The first thing that went wrong since `begin`. */
  get problem(): Unsynchronized | null {
    return this.#problem;
  }

  /** Makes the batch visible as the stream's state after `batchSeq`. Gives a problem, and fails the batch, when memory ends. */
  commit(batchSeq: number): Unsynchronized | null {
    assert(this.#isOpen && this.#problem === null, "a batch is committed that was begun and went well");
    this.#isOpen = false;
    if (this.#kernel.commitBatch(batchSeq)) return null;
    const problem = this.#memoryLimit();
    this.#kernel.abandonBatch(reasonCode(problem.reason), problem.first, problem.second);
    return problem;
  }

  /** Ends a batch of kind "state" as if it had never begun. */
  discard(): void {
    this.#isOpen = false;
    this.#kernel.endReplacement();
  }

  /** The stream scores zero hits from now on, for this reason. Ends the batch, which is this stream's if there is one. */
  fail(stream: WrittenStream, reason: Unsynchronized): void {
    assert(!this.#isOpen || stream.id === this.#stream.id, "a batch is ended by its own stream");
    if (!this.#isOpen) this.#select(stream);
    this.#isOpen = false;
    this.#fail(reason);
  }

  blockStored(event: BlockStored): void {
    if (this.#problem !== null) return;
    const { hashLanes, hashCount, tokens, tokenCount } = event;
    if (tokenCount === 0) {
      this.#storeKnown(hashLanes, hashCount, TIER_CODE[event.tier]);
    } else if (event.blockSize !== this.#stream.blockSize) {
      this.#leaveOut("wrong-block-size", unsynchronized("wrong-block-size", event.blockSize, this.#stream.blockSize));
    } else if (tokenCount !== hashCount * event.blockSize) {
      this.#leaveOut("wrong-token-count", unsynchronized("wrong-token-count", tokenCount, hashCount));
    } else if (event.hasParent && event.parentLow === hashLanes[0] && event.parentHigh === hashLanes[1]) {
      this.eventSkipped("own-parent");
    } else if (this.#standOnParent(event)) {
      this.#store(hashLanes, hashCount, tokens, TIER_CODE[event.tier]);
    }
  }

  blockRemoved({ hashLanes, hashCount, tier }: BlockRemoved): void {
    if (this.#problem !== null) return;
    for (let from = 0; from < hashCount; from += STORE_TOKENS_MAX) {
      const count = Math.min(STORE_TOKENS_MAX, hashCount - from);
      this.#hashes.set(hashLanes.subarray(from * 2, (from + count) * 2));
      this.#kernel.removeBlocks(count, TIER_CODE[tier]);
    }
  }

  allBlocksCleared(): void {
    if (this.#problem === null) this.#beginState();
  }

  eventSkipped(reason: SkipReason): void {
    this.#leaveOut(reason, reason === "malformed-event" ? unsynchronized("event-malformed", this.#batchSeq) : null);
  }

  /** Bytes of memory that the tables take now. */
  get bytesInUse(): number {
    return bytesInUse(this.#kernel);
  }

  /** Since the start: removals of blocks not there, stores without tokens of unknown blocks, hashes that changed content. */
  get oddities(): { unknownRemovals: number; unknownStores: number; collisions: number } {
    const { unknownRemovals, unknownStores, collisions } = this.#kernel;
    return {
      unknownRemovals: unknownRemovals.value >>> 0,
      unknownStores: unknownStores.value >>> 0,
      collisions: collisions.value >>> 0,
    };
  }

  #select(stream: WrittenStream): void {
    this.#stream = stream;
    this.#kernel.selectStream(stream.id, stream.blockSize, stream.hashSeed, stream.counted, this.#limits.maxBlocksPerStream);
  }

  #setBatch(batchSeq: number): void {
    this.#batchSeq = batchSeq;
    this.#kernel.setBatch(batchSeq);
  }

  #beginState(): void {
    if (!this.#kernel.beginReplacement()) this.#problem = this.#memoryLimit();
  }

  #standOnParent({ hasParent, parentLow, parentHigh }: BlockStored): boolean {
    if (!hasParent) this.#kernel.fromRoot();
    else if (!this.#kernel.fromParent(parentLow, parentHigh)) {
      if (this.#kind === "state") this.eventSkipped("orphan");
      else this.#problem = unsynchronized("unknown-parent", this.#batchSeq);
      return false;
    }
    return true;
  }

  #store(hashLanes: Uint32Array, hashCount: number, tokens: Uint32Array, tier: number): void {
    const { blockSize } = this.#stream;
    const blocksMax = Math.floor(STORE_TOKENS_MAX / blockSize);
    for (let from = 0; from < hashCount && this.#problem === null; from += blocksMax) {
      const count = Math.min(blocksMax, hashCount - from);
      this.#hashes.set(hashLanes.subarray(from * 2, (from + count) * 2));
      this.#tokens.set(tokens.subarray(from * blockSize, (from + count) * blockSize));
      this.#note(this.#kernel.storeBlocks(count, tier));
    }
  }

  #storeKnown(hashLanes: Uint32Array, hashCount: number, tier: number): void {
    for (let from = 0; from < hashCount && this.#problem === null; from += STORE_TOKENS_MAX) {
      const count = Math.min(STORE_TOKENS_MAX, hashCount - from);
      this.#hashes.set(hashLanes.subarray(from * 2, (from + count) * 2));
      this.#note(this.#kernel.storeKnown(count, tier));
    }
  }

  #note(outcome: number): void {
    if (outcome === STORED) return;
    const { maxBlocksPerStream } = this.#limits;
    this.#problem = outcome === BLOCK_LIMIT ? unsynchronized("block-limit", maxBlocksPerStream) : this.#memoryLimit();
  }

  #leaveOut(reason: SkipReason, problem: Unsynchronized | null): void {
    this.#skipped[SKIP_REASONS.indexOf(reason)]++;
    this.#problem ??= problem;
  }

  #memoryLimit(): Unsynchronized {
    return unsynchronized("memory-limit", this.#limits.maxBytes);
  }

  #fail({ reason, first, second }: Unsynchronized): void {
    const end = reason === "memory-limit" ? this.#kernel.abandonBatch : this.#kernel.failBatch;
    end(reasonCode(reason), first, second);
  }
}

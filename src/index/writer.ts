/**
 * The writing face of the index, for the ingest thread alone. A batch is begun, its events arrive, and it is committed: a
 * reader sees the stream's state before the batch or after it. What a batch cannot go on with is its `problem`; the caller then
 * fails the batch, and the stream scores zero hits until it has a state again.
 */

import { assert } from "#base";
import {
  type BlockRemoved,
  type BlockStored,
  type Coverage,
  type KvEventSink,
  type SkipReason,
  type Unsynchronized,
  unsynchronized,
} from "#domain";
import { type BatchKind, BatchNotes } from "./batch-notes.ts";
import { EventCalls, followingBlocks, type StoreOutcome } from "./event-calls.ts";
import type { KernelExports } from "./kernel/load.ts";
import { attachKernel, bytesInUse, type IndexHandle, reasonCode } from "./memory.ts";

/** What the index must know of a stream to write it. */
export interface WrittenStream {
  /** Its bit, 0 to maxStreams - 1. */
  id: number;
  blockSize: number;
  hashSeed: number;
  /** True: removals must be as many as stores of a block on a tier. False: a store is presence, one removal removes. */
  counted: boolean;
  /** True: a store that cannot be understood is its batch's problem. False: it is left out and counted, the rest applies. */
  strict: boolean;
}

export class KvIndexWriter implements KvEventSink {
  readonly #kernel: KernelExports;
  readonly #limits: IndexHandle["limits"];
  readonly #calls: EventCalls;
  #stream: WrittenStream = { id: 0, blockSize: 1, hashSeed: 0, counted: false, strict: true };
  readonly #notes = new BatchNotes();
  #isOpen = false;

  constructor(handle: IndexHandle) {
    this.#kernel = attachKernel(handle, 0);
    this.#limits = handle.limits;
    this.#calls = new EventCalls(this.#kernel, handle.memory.buffer);
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
    this.#notes.begin(kind, batchSeq, stream.strict, skipped);
    this.#kernel.setBatch(batchSeq);
    if (kind === "state") this.#beginState();
  }

  /** What follows are changes to the state that was begun, as of this batch. */
  continueWithChanges(batchSeq: number): void {
    this.#notes.continueWithChanges(batchSeq);
    this.#kernel.setBatch(batchSeq);
  }

  /** Whether the state that was begun holds no block so far. */
  get isStateEmpty(): boolean {
    return this.#kernel.blocksInState() === 0;
  }

  /** The first thing that went wrong since `begin`. */
  get problem(): Unsynchronized | null {
    return this.#notes.problem;
  }

  /**
   * Whether a store was left out, since `begin` and the last AllBlocksCleared, whose blocks the engine holds: one that was not
   * understood, or whose parent is unknown in a state known in part. What is not the stream's to hold does not count.
   */
  get isIncomplete(): boolean {
    return this.#notes.isIncomplete;
  }

  /** What was wrong with the store that was left out last since `begin`; null where nothing was, or there is no more to say. */
  get leftOut(): Unsynchronized | null {
    return this.#notes.leftOut;
  }

  /** Whether AllBlocksCleared came since `begin`: nothing from before it is left. */
  get wasCleared(): boolean {
    return this.#notes.wasCleared;
  }

  /** Makes the batch visible as the stream's state after `batchSeq`. Gives a problem, and fails the batch, when memory ends. */
  commit(batchSeq: number, coverage: Coverage): Unsynchronized | null {
    this.#close();
    return this.#kernel.commitBatch(batchSeq, coverage === "partial") ? null : this.#abandon();
  }

  /**
   * As `commit`, of a stream that is out of sight and stays so, for its reason: the next batch builds on the state after
   * `batchSeq`. Readers see the batch sequence and the counts of blocks move on, and no hits.
   */
  keep(batchSeq: number): Unsynchronized | null {
    this.#close();
    assert(this.#kernel.isOutOfSight() !== 0, "a batch is kept of a stream that is out of sight");
    return this.#kernel.keepBatch(batchSeq) ? null : this.#abandon();
  }

  /** Ends a batch of kind "state" as if it had never begun. */
  discard(): void {
    this.#isOpen = false;
    this.#kernel.endReplacement();
  }

  /**
   * The stream scores zero hits from now on, for this reason. Ends the batch, which is this stream's if there is one: the state is
   * then that of no batch, and a whole state or `forget` must be next. Without one it stays the state of the last batch.
   */
  fail(stream: WrittenStream, reason: Unsynchronized): void {
    assert(!this.#isOpen || stream.id === this.#stream.id, "a batch is ended by its own stream");
    if (!this.#isOpen) this.#select(stream);
    this.#isOpen = false;
    this.#fail(reason);
  }

  /** A stream that is out of sight holds nothing from now on, is at batch 0, and stays out of sight for its reason. */
  forget(stream: WrittenStream): void {
    assert(!this.#isOpen, "a stream is forgotten between batches");
    this.#select(stream);
    assert(this.#kernel.isOutOfSight() !== 0, "a stream is forgotten that is out of sight");
    this.#kernel.emptyStream();
  }

  blockStored(event: BlockStored): void {
    if (this.problem !== null) return;
    const { hashLanes, hashCount, tokenCount } = event;
    if (tokenCount === 0) {
      this.#note(this.#calls.storeKnown(event));
    } else if (event.blockSize !== this.#stream.blockSize) {
      this.#notes.leaveOut("wrong-block-size", unsynchronized("wrong-block-size", event.blockSize, this.#stream.blockSize));
    } else if (tokenCount !== hashCount * event.blockSize) {
      this.#notes.leaveOut("wrong-token-count", unsynchronized("wrong-token-count", tokenCount, hashCount));
    } else if (event.hasParent && event.parentLow === hashLanes[0] && event.parentHigh === hashLanes[1]) {
      this.#notes.leaveOut("own-parent", null);
    } else if (!this.#stream.strict && event.tier !== "device") {
      this.#storeOffloaded(event);
    } else {
      this.#store(event);
    }
  }

  blockRemoved(event: BlockRemoved): void {
    if (this.problem === null) this.#calls.remove(event);
  }

  allBlocksCleared(): void {
    if (this.problem !== null) return;
    this.#beginState();
    this.#notes.clear();
  }

  eventSkipped(reason: SkipReason): void {
    this.#notes.skip(reason);
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

  #beginState(): void {
    if (!this.#kernel.beginReplacement()) this.#notes.fail(this.#memoryLimit());
  }

  /**
   * An engine that describes what it offloads leaves out the blocks' extra keys: taken at its word, a salted block would become
   * one of plain text. What is known of a block stays; only those that follow the known ones are taken from the event.
   */
  #storeOffloaded(event: BlockStored): void {
    const known = this.#calls.countKnown(event);
    if (known > 0) this.#note(this.#calls.storeKnown({ ...event, hashCount: known }));
    if (known === event.hashCount) return;
    this.#store(known === 0 ? event : followingBlocks(event, known));
  }

  #store(event: BlockStored): void {
    if (this.#standOnParent(event)) this.#note(this.#calls.store(event));
  }

  #standOnParent({ hasParent, parentLow, parentHigh }: BlockStored): boolean {
    if (!hasParent) this.#kernel.fromRoot();
    else if (!this.#kernel.fromParent(parentLow, parentHigh)) {
      this.#notes.missParent();
      return false;
    }
    return true;
  }

  #note(outcome: StoreOutcome): void {
    switch (outcome) {
      case "stored":
        break;
      case "block-limit":
        this.#notes.fail(unsynchronized("block-limit", this.#limits.maxBlocksPerStream));
        break;
      case "memory-limit":
        this.#notes.fail(this.#memoryLimit());
        break;
    }
  }

  #close(): void {
    assert(this.#isOpen && this.problem === null, "a batch is committed that was begun and went well");
    this.#isOpen = false;
  }

  /** After a commit that found no memory: the stream holds nothing. */
  #abandon(): Unsynchronized {
    const problem = this.#memoryLimit();
    this.#fail(problem);
    return problem;
  }

  #memoryLimit(): Unsynchronized {
    return unsynchronized("memory-limit", this.#limits.maxBytes);
  }

  #fail({ reason, first, second }: Unsynchronized): void {
    const end = reason === "memory-limit" ? this.#kernel.abandonBatch : this.#kernel.failBatch;
    end(reasonCode(reason), first, second);
  }
}

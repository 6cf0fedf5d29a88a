/**
 * One stream's batches and snapshots, decoded into the index. Each call leaves the index at the state after a batch, or hides
 * the stream and returns what stood against it.
 */

import {
  type Coverage,
  SKIP_REASONS,
  type SkipReason,
  type StreamDescription,
  type StreamReport,
  type Unsynchronized,
  unsynchronized,
} from "#domain";
import type { BatchKind, KvIndexWriter, WrittenStream } from "#index";
import { AttentionGroups, type Dialect } from "#wire";
import { isPassable } from "./replaying.ts";
import { NONE } from "./state.ts";

export interface HeldBatch {
  batchSeq: number;
  payload: Uint8Array;
}

/** `unreadable`: the snapshot is none of this stream's, which stays as it is. `unfit`: what was understood does not fit. */
export type Adoption =
  | { kind: "adopted"; batchSeq: number; isEmpty: boolean }
  | { kind: "unreadable" | "unfit"; problem: Unsynchronized };

export class StreamIndex {
  readonly #stream: StreamDescription;
  readonly #written: WrittenStream;
  readonly #writer: KvIndexWriter;
  readonly #dialect: Dialect;
  readonly #skipped = new Uint32Array(SKIP_REASONS.length);
  #coverage: Coverage;
  /** Of the last batch read, by which its process is known again; not kept for xLLM, whose snapshot tells all. */
  #last = { batchSeq: NONE, length: 0, checksum: 0 };
  readonly #groups = new AttentionGroups();
  #leftOut: Unsynchronized | null = null;
  #trailingBytes = 0;
  #batches = 0;
  readonly #events = { stored: 0, removed: 0, cleared: 0 };
  #lagMs: number | null = null;

  /** An xLLM engine announces presence, of which its snapshot is the whole; the others announce copies, which are counted. */
  constructor(id: number, stream: StreamDescription, writer: KvIndexWriter, dialect: Dialect) {
    const isPresence = stream.engine === "xllm";
    const { blockSize, hashSeed } = stream;
    this.#stream = stream;
    this.#written = { id, blockSize, hashSeed, counted: !isPresence, strict: isPresence };
    this.#writer = writer;
    this.#dialect = dialect;
    this.#coverage = isPresence ? "full" : "partial";
  }

  /** Takes the stream's place in the index. */
  open(): void {
    this.#writer.openStream(this.#written, unsynchronized("not-connected"));
  }

  close(): void {
    this.#writer.closeStream(this.#written);
  }

  /** Events left out so far, by reason; reasons without any are absent. */
  get skipped(): Partial<Record<SkipReason, number>> {
    const counts = SKIP_REASONS.map((reason, index) => [reason, this.#skipped[index]] as const);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  /** What was wrong with the store that was left out last; null while none was. */
  get leftOut(): Unsynchronized | null {
    return this.#leftOut;
  }

  /** Bytes found after the end of batches, which are ignored. */
  get trailingBytes(): number {
    return this.#trailingBytes;
  }

  /** Batches and snapshots decoded, and their events but those left out. */
  get batches(): number {
    return this.#batches;
  }

  get events(): Readonly<StreamReport["events"]> {
    return this.#events;
  }

  /** Of the last live batch; null where its timestamp is no time of day. */
  get lagMs(): number | null {
    return this.#lagMs;
  }

  holdsFullState(payload: Uint8Array): boolean {
    return this.#dialect.holdsFullState(payload);
  }

  /** Whether this is the very batch that was read last, whose state the index holds unless that went wrong. */
  isLast(batchSeq: number, payload: Uint8Array): boolean {
    const { batchSeq: lastBatchSeq, length, checksum } = this.#last;
    return lastBatchSeq === batchSeq && length === payload.length && checksum === Bun.hash.crc32(payload);
  }

  /** The stream scores zero hits from now on. */
  hide(problem: Unsynchronized): void {
    this.#writer.fail(this.#written, problem);
  }

  /** Drops the blocks of a stream that is out of sight. What is known begins with the next batch. */
  forget(): void {
    this.#writer.forget(this.#written);
    this.#coverage = "partial";
  }

  /** Applies the next batch of a synchronized stream. */
  apply(batchSeq: number, payload: Uint8Array): Unsynchronized | null {
    const isKnownInPart = !this.#written.strict && this.#coverage === "partial";
    const problem = this.#read(batchSeq, payload, isKnownInPart ? "known-part" : "changes");
    if (problem !== null) return problem;
    this.#lagMs = lagMs(this.#dialect.contents.timestampSeconds);
    return this.#writer.commit(batchSeq, this.#coverage);
  }

  /** Applies a batch to the state of a stream that is out of sight, which it stays. */
  keep(batchSeq: number, payload: Uint8Array): Unsynchronized | null {
    return this.#read(batchSeq, payload, "known-part") ?? this.#writer.keep(batchSeq);
  }

  /**
   * Applies the held batches after this one and shows the state. What comes before a batch that has to be passed over counts no
   * more; it goes on after it.
   */
  showHeld(after: number, held: readonly HeldBatch[]): Adoption {
    let last = after;
    for (const { batchSeq, payload } of held) {
      if (batchSeq <= after) continue;
      const problem = this.keep(batchSeq, payload);
      if (problem !== null && !isPassable(problem)) return { kind: "unfit", problem };
      if (problem !== null) this.forget();
      last = batchSeq;
    }
    this.#writer.begin(this.#written, "changes", last, this.#skipped);
    return this.#commit(last, last === NONE);
  }

  /** Makes the batch, which is a whole state, the stream's state. */
  adoptBatch(batchSeq: number, payload: Uint8Array): Adoption {
    const problem = this.#read(batchSeq, payload, "state");
    return problem === null ? this.#commit(batchSeq, false) : { kind: "unfit", problem };
  }

  /**
   * Makes the snapshot, followed by the held batches after its watermark, the stream's state. Before anything was published
   * the watermark is 0 and the snapshot empty: a batch 0 then is the first of a publisher that counts from 0.
   */
  adoptSnapshot(watermark: number, snapshot: Uint8Array, held: readonly HeldBatch[]): Adoption {
    this.#writer.begin(this.#written, "state", watermark, this.#skipped);
    const unreadable = this.#decode(watermark, snapshot);
    if (unreadable !== null) {
      this.#writer.discard();
      const isRank = unreadable.reason === "wrong-rank";
      return { kind: "unreadable", problem: isRank ? unreadable : unsynchronized("snapshot-malformed") };
    }
    const isEmpty = this.#writer.isStateEmpty;
    let last = watermark;
    let changes = 0;
    for (const { batchSeq, payload } of held) {
      if (batchSeq <= watermark && !(isEmpty && watermark === 0)) continue;
      this.#writer.continueWithChanges(batchSeq);
      const problem = this.#writer.problem ?? this.#decode(batchSeq, payload);
      if (problem !== null) return this.#unfit(problem);
      last = batchSeq;
      changes += 1;
    }
    return this.#commit(last, isEmpty && changes === 0);
  }

  /** Begins a batch and decodes it; hides the stream when that goes wrong. */
  #read(batchSeq: number, payload: Uint8Array, kind: BatchKind): Unsynchronized | null {
    if (!this.#written.strict) this.#last = { batchSeq, length: payload.length, checksum: Bun.hash.crc32(payload) };
    this.#writer.begin(this.#written, kind, batchSeq, this.#skipped);
    const problem = this.#decode(batchSeq, payload) ?? this.#writer.problem;
    if (problem !== null) this.hide(problem);
    else if (!this.#written.strict) this.#updateCoverage(batchSeq);
    return problem;
  }

  /** Whole from a publisher's first batch, or from a clear, on; in part since a store had to be left out. */
  #updateCoverage(batchSeq: number): void {
    if (batchSeq === 0 || this.#writer.wasCleared) this.#coverage = "full";
    if (this.#writer.isIncomplete) this.#coverage = "partial";
  }

  #commit(batchSeq: number, isEmpty: boolean): Adoption {
    if (this.#writer.problem !== null) return this.#unfit(this.#writer.problem);
    const problem = this.#writer.commit(Math.max(batchSeq, 0), this.#coverage);
    return problem === null ? { kind: "adopted", batchSeq, isEmpty } : { kind: "unfit", problem };
  }

  #count(): void {
    const { stored, removed, cleared } = this.#dialect.contents;
    this.#batches += 1;
    this.#events.stored += stored;
    this.#events.removed += removed;
    this.#events.cleared += cleared;
  }

  #unfit(problem: Unsynchronized): Adoption {
    this.hide(problem);
    return { kind: "unfit", problem };
  }

  /** Decodes into the batch that was begun. For engines but xLLM the socket says which rank it is. */
  #decode(batchSeq: number, payload: Uint8Array): Unsynchronized | null {
    const { problem, rank, trailingBytes } = this.#dialect.decode(payload, this.#writer, this.#groups);
    this.#trailingBytes += trailingBytes;
    this.#count();
    this.#leftOut = this.#writer.leftOut ?? this.#leftOut;
    if (problem !== null) return unsynchronized("batch-malformed", batchSeq);
    const isOtherRank = this.#written.strict && rank !== null && rank !== this.#stream.dpRank;
    return isOtherRank ? unsynchronized("wrong-rank", rank, this.#stream.dpRank) : null;
  }
}

/** A timestamp further away is of another clock, such as one that counts from the start of the machine. */
const LAG_MS_MAX = 86_400_000;

function lagMs(timestampSeconds: number | null): number | null {
  const lag = Date.now() - (timestampSeconds ?? Number.NaN) * 1000;
  return Math.abs(lag) <= LAG_MS_MAX ? lag : null;
}

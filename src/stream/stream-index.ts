/**
 * One stream's batches and snapshots, decoded into the index. Each call leaves the index at the state after a batch, or hides
 * the stream and returns what stood against it.
 */

import { SKIP_REASONS, type SkipReason, type StreamDescription, type Unsynchronized, unsynchronized } from "#domain";
import type { KvIndexWriter, WrittenStream } from "#index";
import type { Dialect } from "#wire";

export interface HeldBatch {
  batchSeq: number;
  payload: Uint8Array;
}

/**
 * `unreadable`: the snapshot is none of this stream's, which stays as it is. `unfit`: what was understood does not fit the index
 * or each other.
 */
export type Adoption =
  | { kind: "adopted"; batchSeq: number; isEmpty: boolean }
  | { kind: "unreadable" | "unfit"; problem: Unsynchronized };

export class StreamIndex {
  readonly #stream: StreamDescription;
  readonly #written: WrittenStream;
  readonly #writer: KvIndexWriter;
  readonly #dialect: Dialect;
  readonly #skipped = new Uint32Array(SKIP_REASONS.length);
  #trailingBytes = 0;

  constructor(id: number, stream: StreamDescription, writer: KvIndexWriter, dialect: Dialect) {
    this.#stream = stream;
    this.#written = { id, blockSize: stream.blockSize, hashSeed: stream.hashSeed, counted: false };
    this.#writer = writer;
    this.#dialect = dialect;
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

  /** Bytes found after the end of batches, which are ignored. */
  get trailingBytes(): number {
    return this.#trailingBytes;
  }

  holdsFullState(payload: Uint8Array): boolean {
    return this.#dialect.holdsFullState(payload);
  }

  /** The stream scores zero hits from now on. */
  hide(problem: Unsynchronized): void {
    this.#writer.fail(this.#written, problem);
  }

  /** Applies the next batch of a synchronized stream. */
  apply(batchSeq: number, payload: Uint8Array): Unsynchronized | null {
    this.#writer.begin(this.#written, "changes", batchSeq, this.#skipped);
    const problem = this.#decode(batchSeq, payload) ?? this.#writer.problem;
    if (problem === null) return this.#writer.commit(batchSeq);
    this.hide(problem);
    return problem;
  }

  /** Makes the batch, which is a whole state, the stream's state. */
  adoptBatch(batchSeq: number, payload: Uint8Array): Adoption {
    this.#writer.begin(this.#written, "state", batchSeq, this.#skipped);
    const problem = this.#decode(batchSeq, payload);
    return problem === null ? this.#commit(batchSeq, false) : this.#unfit(problem);
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

  #commit(batchSeq: number, isEmpty: boolean): Adoption {
    if (this.#writer.problem !== null) return this.#unfit(this.#writer.problem);
    const problem = this.#writer.commit(batchSeq);
    return problem === null ? { kind: "adopted", batchSeq, isEmpty } : { kind: "unfit", problem };
  }

  #unfit(problem: Unsynchronized): Adoption {
    this.hide(problem);
    return { kind: "unfit", problem };
  }

  /** Decodes into the batch that was begun. */
  #decode(batchSeq: number, payload: Uint8Array): Unsynchronized | null {
    const { problem, rank, trailingBytes } = this.#dialect.decode(payload, this.#writer);
    this.#trailingBytes += trailingBytes;
    if (problem !== null) return unsynchronized("batch-malformed", batchSeq);
    if (rank !== null && rank !== this.#stream.dpRank) return unsynchronized("wrong-rank", rank, this.#stream.dpRank);
    return null;
  }
}

/** An index with a writer and a reader in one thread, as unit tests use it: open a stream, tell it a batch, ask for a prompt. */

import { type Coverage, type Namespace, SKIP_REASONS, type SkipReason, type Unsynchronized, unsynchronized } from "#domain";
import {
  type BatchKind,
  createIndex,
  type IndexHandle,
  type IndexLimits,
  KvIndexReader,
  KvIndexWriter,
  type WrittenStream,
} from "#index";
import { type ReadStream, readStream } from "../support/read-stream.ts";
import type { Announcement } from "./announcements.ts";

export const BLOCK_SIZE = 4;

const LIMITS: IndexLimits = { maxStreams: 128, maxBlocksPerStream: 10_000 };

export class IndexScene {
  readonly handle: IndexHandle;
  readonly writer: KvIndexWriter;
  readonly reader: KvIndexReader;
  readonly #skipped = new Uint32Array(SKIP_REASONS.length);
  readonly #wanted = new Uint32Array(4);

  private constructor(handle: IndexHandle) {
    this.handle = handle;
    this.writer = new KvIndexWriter(handle);
    this.reader = new KvIndexReader(handle);
  }

  static async create(limits: Partial<IndexLimits> = {}): Promise<IndexScene> {
    return new IndexScene(await createIndex({ ...LIMITS, ...limits }));
  }

  /** A new stream, not yet connected. */
  open(id: number, fields: Partial<WrittenStream> = {}): WrittenStream {
    const stream = { id, blockSize: BLOCK_SIZE, hashSeed: 1024, counted: false, strict: true, ...fields };
    this.writer.openStream(stream, unsynchronized("not-connected"));
    return stream;
  }

  /** A new stream whose state, as of batch 0, is empty. */
  openSynchronized(id: number, fields: Partial<WrittenStream> = {}): WrittenStream {
    const stream = this.open(id, fields);
    this.state(stream, 0, []);
    return stream;
  }

  /** Applies one batch of changes; gives the problem for which the stream was failed, as its owner does. */
  changes(stream: WrittenStream, batchSeq: number, announcements: readonly Announcement[]): Unsynchronized | null {
    return this.#batch(stream, "changes", batchSeq, announcements);
  }

  /** Applies one batch of changes to a state known in part; gives the problem for which the stream was failed. */
  knownPart(stream: WrittenStream, batchSeq: number, announcements: readonly Announcement[]): Unsynchronized | null {
    return this.#batch(stream, "known-part", batchSeq, announcements);
  }

  /** Replaces the stream's state; gives the problem for which the stream was failed. */
  state(stream: WrittenStream, batchSeq: number, announcements: readonly Announcement[]): Unsynchronized | null {
    return this.#batch(stream, "state", batchSeq, announcements);
  }

  /** Begins a batch and leaves it open. */
  begin(stream: WrittenStream, kind: BatchKind, batchSeq: number, announcements: readonly Announcement[]): void {
    this.writer.begin(stream, kind, batchSeq, this.#skipped);
    for (const announce of announcements) announce(this.writer);
  }

  /** The stream's answer for the prompt. */
  match(stream: WrittenStream, tokens: ArrayLike<number>, namespace: Namespace | null = null): ReadStream {
    this.reader.tokens.set(tokens);
    this.#wanted.fill(0);
    this.#wanted[stream.id >> 5] = 1 << (stream.id & 31);
    if (!this.reader.match(tokens.length, stream, this.#wanted, namespace)) throw new Error("The index is busy");
    return readStream(this.reader, stream.id);
  }

  /** Blocks of the prompt's prefix on any tier. */
  prefixBlocks(stream: WrittenStream, tokens: ArrayLike<number>, namespace: Namespace | null = null): number {
    const { deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks } = this.match(stream, tokens, namespace);
    return deviceHitBlocks + hostOnlyHitBlocks + diskOnlyHitBlocks;
  }

  /** Events left out so far for this reason. */
  skipped(reason: SkipReason): number {
    return this.#skipped[SKIP_REASONS.indexOf(reason)];
  }

  #batch(
    stream: WrittenStream,
    kind: BatchKind,
    batchSeq: number,
    announcements: readonly Announcement[],
  ): Unsynchronized | null {
    this.begin(stream, kind, batchSeq, announcements);
    const coverage: Coverage = kind === "known-part" ? "partial" : "full";
    const problem = this.writer.problem ?? this.writer.commit(batchSeq, coverage);
    if (problem !== null) this.writer.fail(stream, problem);
    return problem;
  }
}

/** The bytes without which there is no index of these limits, by its own words. */
export async function leastBytes(limits: IndexLimits): Promise<number> {
  const error: Error = await createIndex({ ...limits, maxBytes: 0 }).then(
    () => new Error("An index without memory"),
    (reason) => reason,
  );
  return Number(/at least (\d+) are needed/.exec(error.message)?.[1]);
}

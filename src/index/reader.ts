/** The reading face of the index, for the main thread: one prompt against all streams, and what each stream's state is. */

import { assert } from "#base";
import { type Namespace, type StreamDescription, type StreamMatch, TOKENS_MAX, type Unsynchronized } from "#domain";
import type { KernelExports } from "./kernel/load.ts";
import { KEY_BYTES_MAX, keyRuns, rekey } from "./key-runs.ts";
import { attachKernel, bytesInUse, type IndexFigures, type IndexHandle, indexFigures, reasonOf, STREAMS_MAX } from "./memory.ts";

const STATUS_WORDS = 16;

/** What makes two streams share content keys. */
export interface Keyspace {
  blockSize: number;
  hashSeed: number;
}

export class KvIndexReader {
  readonly #handle: IndexHandle;
  readonly #kernel: KernelExports;
  readonly #wanted: Uint32Array;
  readonly #keyBytes: Uint8Array;
  readonly #results: Uint32Array;
  readonly #statusWords: Uint32Array;
  readonly #statusNumbers: Float64Array;

  /** Where the caller writes a prompt's tokens before `match`; TOKENS_MAX of them. */
  readonly tokens: Uint32Array;

  constructor(handle: IndexHandle, reader = 0) {
    const kernel = attachKernel(handle, reader);
    const { buffer } = handle.memory;
    this.#handle = handle;
    this.#kernel = kernel;
    this.tokens = new Uint32Array(buffer, kernel.readerTokensAddress(), TOKENS_MAX);
    this.#wanted = new Uint32Array(buffer, kernel.readerWantedAddress(), STREAMS_MAX / 32);
    this.#keyBytes = new Uint8Array(buffer, kernel.readerBytesAddress(), KEY_BYTES_MAX);
    this.#results = new Uint32Array(buffer, kernel.readerResultsAddress(), handle.limits.maxStreams * 4);
    const statuses = kernel.readerStatusesAddress();
    this.#statusWords = new Uint32Array(buffer, statuses, handle.limits.maxStreams * STATUS_WORDS);
    this.#statusNumbers = new Float64Array(buffer, statuses, (handle.limits.maxStreams * STATUS_WORDS) / 2);
  }

  /**
   * Matches the first `tokenCount` tokens under the namespace, null for none, for the streams in `wanted`, a set of 128 bits in
   * four words; all of them must be of this keyspace. Then `read` gives each stream's answer, all from one moment. False when
   * the writer did not leave the index in time. Costs one hash and one cache line a block.
   */
  match(tokenCount: number, keyspace: Keyspace, wanted: Uint32Array, namespace: Namespace | null): boolean {
    assert(tokenCount <= TOKENS_MAX, `a prompt has at most ${TOKENS_MAX} tokens`);
    const blocks = Math.floor(tokenCount / keyspace.blockSize);
    this.#wanted.set(wanted);
    this.#kernel.beginPrompt(keyspace.blockSize, keyspace.hashSeed);
    if (namespace === null) this.#kernel.hashPrompt(blocks);
    else this.#hashPrompt(blocks, namespace);
    return this.#kernel.match(blocks) !== 0;
  }

  /** The stream's part of the last match, under its id. */
  read(id: number, stream: StreamDescription): StreamMatch {
    const result = id * 4;
    const words = id * STATUS_WORDS;
    const prefix = this.#results[result];
    const hostOnly = this.#results[result + 1];
    const diskOnly = this.#results[result + 2];
    return {
      stream,
      unsynchronized: this.#unsynchronized(words),
      coverage: this.#statusWords[words + 1] === 0 ? "full" : "partial",
      batchSeq: this.#statusNumbers[words / 2 + 3],
      deviceHitBlocks: prefix - hostOnly - diskOnly,
      hostOnlyHitBlocks: hostOnly,
      diskOnlyHitBlocks: diskOnly,
      deviceBlocks: this.#statusWords[words + 8],
      hostBlocks: this.#statusWords[words + 9],
      diskBlocks: this.#statusWords[words + 10],
    };
  }

  get bytesInUse(): number {
    return bytesInUse(this.#kernel);
  }

  get figures(): IndexFigures {
    return indexFigures(this.#kernel, this.#handle);
  }

  #hashPrompt(blocks: number, namespace: Namespace): void {
    for (const { bytes, from, to } of keyRuns(namespace, false, blocks)) {
      if (bytes !== null) rekey(bytes, this.#keyBytes, this.#kernel.rekeyPrompt);
      this.#kernel.hashPrompt(to - from);
    }
  }

  #unsynchronized(words: number): Unsynchronized | null {
    const reason = reasonOf(this.#statusWords[words]);
    if (reason === null) return null;
    const numbers = words / 2;
    return { reason, first: this.#statusNumbers[numbers + 1], second: this.#statusNumbers[numbers + 2] };
  }
}

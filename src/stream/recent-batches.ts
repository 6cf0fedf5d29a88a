/**
 * Tells a batch that was sent twice from a new one under an old number: a publisher that restarts counts from the beginning
 * again, and its batches must not pass for repeats. The same bytes under the same batch sequence are a repeat.
 */

/** Batches remembered: more than any publisher repeats; a repeat from before them counts as a restart, which is safe. */
const REMEMBERED = 256;

export class RecentBatches {
  readonly #batchSeqs = new Float64Array(REMEMBERED).fill(-1);
  readonly #lengths = new Uint32Array(REMEMBERED);
  readonly #checksums = new Uint32Array(REMEMBERED);

  /** Whether these very bytes came under this number before; remembers them in any case. */
  isRepeat(batchSeq: number, payload: Uint8Array): boolean {
    const slot = batchSeq % REMEMBERED;
    const [knownBatchSeq, length, checksum] = [this.#batchSeqs[slot], this.#lengths[slot], this.#checksums[slot]];
    this.remember(batchSeq, payload);
    return knownBatchSeq === batchSeq && length === this.#lengths[slot] && checksum === this.#checksums[slot];
  }

  /** Remembers a batch that came another way. */
  remember(batchSeq: number, payload: Uint8Array): void {
    const slot = batchSeq % REMEMBERED;
    this.#batchSeqs[slot] = batchSeq;
    this.#lengths[slot] = payload.length;
    this.#checksums[slot] = Bun.hash.crc32(payload);
  }
}

/**
 * What was delivered lately, by batch sequence: the same bytes under the same number are a repeat, other bytes under a number
 * already passed come from a publisher that has restarted.
 */

/**
 * A replay (10,000 batches by default) may bring again all that waits in the live socket (1,000) and on the network. A repeat
 * from before the remembered ones passes for a restart, which is told and never silent.
 */
const REMEMBERED = 16_384;

export class RecentBatches {
  readonly #batchSeqs = new Float64Array(REMEMBERED).fill(-1);
  readonly #checksums = new BigUint64Array(REMEMBERED);
  #coveredTo = -1;

  /** Whether these very bytes were delivered under this number, or a snapshot that was delivered holds the batch. */
  has(batchSeq: number, payload: Uint8Array): boolean {
    if (batchSeq <= this.#coveredTo) return true;
    const slot = batchSeq % REMEMBERED;
    return this.#batchSeqs[slot] === batchSeq && this.#checksums[slot] === Bun.hash.xxHash3(payload);
  }

  /** Notes a batch; what a snapshot covered has passed by then, because live batches come in order. */
  add(batchSeq: number, payload: Uint8Array): void {
    this.#coveredTo = -1;
    const slot = batchSeq % REMEMBERED;
    this.#batchSeqs[slot] = batchSeq;
    this.#checksums[slot] = Bun.hash.xxHash3(payload);
  }

  /**
   * Notes a snapshot: the live batches up to its watermark are still to come and are in it. A publisher that restarts meanwhile
   * breaks the connection, and the next connection asks for the next snapshot.
   */
  cover(watermark: number): void {
    this.#coveredTo = watermark;
  }

  /** Forgets everything: another publisher counts now. */
  clear(): void {
    this.#batchSeqs.fill(-1);
    this.#coveredTo = -1;
  }
}

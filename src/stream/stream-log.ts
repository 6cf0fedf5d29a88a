/** What is logged of a stream: each change of its status, and each new way in which its blocks do not fit. */

import type { LogFields, Logger } from "#base";
import { describeUnsynchronized, type StreamDescription, type Unsynchronized, type UnsynchronizedReason } from "#domain";
import type { StreamIndex } from "./stream-index.ts";

export class StreamLog {
  readonly #name: { instance: string; rank: number };
  readonly #index: StreamIndex;
  readonly #logger: Logger;
  /** The reason logged last; null while synchronized. */
  #reason: string | null = "";
  #leftOut: UnsynchronizedReason | null = null;

  constructor({ instanceName, dpRank }: StreamDescription, index: StreamIndex, logger: Logger) {
    this.#name = { instance: instanceName, rank: dpRank };
    this.#index = index;
    this.#logger = logger;
  }

  /** Null: synchronized, as of this batch. */
  status(problem: Unsynchronized | null, batchSeq: number): void {
    const reason = problem === null ? null : describeUnsynchronized(problem);
    if (reason === this.#reason) return;
    this.#reason = reason;
    if (reason !== null) this.#logger.warn("Stream is not synchronized", { ...this.#name, reason });
    else this.#logger.info("Stream is synchronized", { ...this.#name, batch_seq: Math.max(batchSeq, 0), ...this.#skipped() });
  }

  /** An engine that is configured otherwise than here shows by its stores: each way in which they do not fit is told once. */
  leftOut(): void {
    const { leftOut } = this.#index;
    if (leftOut === null || leftOut.reason === this.#leftOut) return;
    this.#leftOut = leftOut.reason;
    this.#logger.warn("Blocks are left out", { ...this.#name, reason: describeUnsynchronized(leftOut) });
  }

  /** Events left out by reason: `skipped_unknown_event: 3`. */
  #skipped(): LogFields {
    const counts = Object.entries(this.#index.skipped);
    return Object.fromEntries(counts.map(([reason, count]) => [`skipped_${reason.replaceAll("-", "_")}`, count]));
  }
}

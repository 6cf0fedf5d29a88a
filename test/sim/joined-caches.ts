/** What streams may know of a publisher that joined at different times: one that joined before each of its batches. */

import type { Change, FollowedCache, Holdings } from "./followed-cache.ts";

export interface PartialHoldings {
  holdings: Holdings;
  /** False where a stream may know less. */
  isExact: boolean;
}

export class JoinedCaches {
  readonly #join: () => FollowedCache;
  readonly #history = new Map<number, PartialHoldings[]>();
  #caches: FollowedCache[];

  constructor(join: () => FollowedCache) {
    this.#join = join;
    this.#caches = [join()];
    // Before batch 0 nothing is known, which streams call batch 0 as well.
    this.#remember(0);
  }

  /** What is known after the batch. */
  after(batchSeq: number): readonly PartialHoldings[] {
    return this.#history.get(batchSeq) ?? [];
  }

  hear(batchSeq: number, changes: readonly Change[]): void {
    // After a clear all know the same.
    if (changes.some(({ kind }) => kind === "cleared")) this.#caches.length = 1;
    for (const cache of this.#caches) for (const change of changes) cache.apply(change);
    this.#caches.push(this.#join());
    this.#remember(batchSeq);
  }

  /** The batch that was heard last tells nobody anything: what is known begins after it. */
  miss(batchSeq: number): void {
    this.#caches = [this.#join()];
    this.#history.delete(batchSeq);
    this.#remember(batchSeq);
  }

  #remember(batchSeq: number): void {
    const known = this.#caches.map(({ holdings, isExact }) => ({ holdings, isExact }));
    this.#history.set(batchSeq, [...this.after(batchSeq), ...known]);
  }
}

/**
 * The states between which the busy writer moves. All that a stream holds follows from its batch sequence, so a reader can tell
 * a whole state from a mixture without knowing anything else:
 *
 *   batchSeq = (round × 2048 + spare) × 1024 + prefix
 *
 * `prefix` blocks of a prompt that all streams share, the n-th on tier n modulo 3; and `spare` single blocks on the device whose
 * contents only this stream has, so that tables grow and shrink around the prompt.
 */

import { TIERS, type Tier } from "#domain";
import { type Announcement, range, remove, store } from "./announcements.ts";

export interface BusyState {
  round: number;
  prefix: number;
  spare: number;
}

export const BUSY_BLOCK_SIZE = 4;
export const PREFIX_MAX = 600;
export const SPARE_MAX = 2047;
export const EMPTY: BusyState = { round: 0, prefix: 0, spare: 0 };

/** The prompt whose blocks are the prefix. */
export const BUSY_PROMPT: readonly number[] = range(0, PREFIX_MAX * BUSY_BLOCK_SIZE);

export function batchSeqOf({ round, prefix, spare }: BusyState): number {
  return (round * 2048 + spare) * 1024 + prefix;
}

export function stateOf(batchSeq: number): BusyState {
  const rest = Math.floor(batchSeq / 1024);
  return { round: Math.floor(rest / 2048), prefix: batchSeq % 1024, spare: rest % 2048 };
}

/** How many of the first `prefix` blocks are on the tier. */
export function prefixBlocksOn(tier: Tier, prefix: number): number {
  return Math.floor((prefix + 2 - TIERS.indexOf(tier)) / 3);
}

/** Hashes of the prefix are its blocks' numbers; those of spare blocks begin here. */
const SPARE_FIRST = 1_000_000;

/** The announcements by which one stream comes to a state; made once, for writing is to be fast. */
export class BusyAnnouncements {
  readonly #prefixStores = range(0, PREFIX_MAX).map((block) => {
    const tokens = BUSY_PROMPT.slice(block * BUSY_BLOCK_SIZE, (block + 1) * BUSY_BLOCK_SIZE);
    const tier = tierOfBlock(block);
    return store([block], tokens, block === 0 ? { tier } : { tier, parent: block - 1 });
  });
  readonly #prefixRemovals = range(0, PREFIX_MAX).map((block) => remove([block], tierOfBlock(block)));
  readonly #spareStores: Announcement[];

  constructor(streamId: number) {
    this.#spareStores = range(SPARE_FIRST, SPARE_MAX).map((hash) => store([hash], [hash, streamId, 0, 0]));
  }

  whole({ prefix, spare }: BusyState): Announcement[] {
    return [...this.#prefixStores.slice(0, prefix), ...this.#spareStores.slice(0, spare)];
  }

  /** Removes the prefix from its end and stores it from its beginning, as an engine does. */
  difference(from: BusyState, to: BusyState): Announcement[] {
    return [
      ...this.#prefixRemovals.slice(to.prefix, from.prefix).toReversed(),
      ...this.#prefixStores.slice(from.prefix, to.prefix),
      remove(range(SPARE_FIRST + to.spare, Math.max(0, from.spare - to.spare))),
      ...this.#spareStores.slice(from.spare, to.spare),
    ];
  }

  /** More changes than one commit shows at once, if spare blocks are many; they end where they began. */
  comingAndGoing({ spare }: BusyState): Announcement[] {
    const leaving = remove(range(SPARE_FIRST, spare));
    return range(0, 4).flatMap(() => [leaving, ...this.#spareStores.slice(0, spare)]);
  }
}

function tierOfBlock(block: number): Tier {
  return TIERS[block % 3];
}

/** An event's blocks, however many, in calls into the kernel of bounded size: hashes, tokens and bytes go through its scratch. */

import { type BlockRemoved, type BlockStored, TIER_CODE } from "#domain";
import type { KernelExports } from "./kernel/load.ts";
import { KEY_BYTES_MAX, keyRuns, rekey } from "./key-runs.ts";

/** Tokens, and hashes, of one call into the kernel; assembly/layout.ts has the areas. */
const STORE_TOKENS_MAX = 65_536;

/** Outcomes of the kernel's stores, by their code; assembly/stream-writer.ts has them too. */
const STORE_OUTCOMES = ["stored", "block-limit", "memory-limit"] as const;

export type StoreOutcome = (typeof STORE_OUTCOMES)[number];

export class EventCalls {
  readonly #kernel: KernelExports;
  readonly #tokens: Uint32Array;
  readonly #hashes: Uint32Array;
  readonly #bytes: Uint8Array;

  constructor(kernel: KernelExports, buffer: ArrayBufferLike) {
    this.#kernel = kernel;
    this.#tokens = new Uint32Array(buffer, kernel.storeTokensAddress(), STORE_TOKENS_MAX);
    this.#hashes = new Uint32Array(buffer, kernel.storeHashesAddress(), STORE_TOKENS_MAX * 2);
    this.#bytes = new Uint8Array(buffer, kernel.storeBytesAddress(), KEY_BYTES_MAX);
  }

  /** Stores the event's blocks behind the block, or at the root, that the kernel was turned to. */
  store(event: BlockStored): StoreOutcome {
    const { namespace, hasParent, hashCount } = event;
    if (namespace === null) return this.#storeRun(event, 0, hashCount);
    for (const { bytes, from, to } of keyRuns(namespace, hasParent, hashCount)) {
      if (bytes !== null) rekey(bytes, this.#bytes, this.#kernel.rekeyStore);
      const outcome = this.#storeRun(event, from, to);
      if (outcome !== "stored") return outcome;
    }
    return "stored";
  }

  /** How many of the event's blocks, from the first on, are known. */
  countKnown({ hashLanes, hashCount }: BlockStored): number {
    let known = 0;
    for (let from = 0; from < hashCount && known === from; from += STORE_TOKENS_MAX) {
      known += this.#kernel.countKnown(this.#copyHashes(hashLanes, from, Math.min(from + STORE_TOKENS_MAX, hashCount)));
    }
    return known;
  }

  /** Adds the tier to those of the blocks that are known. */
  storeKnown({ hashLanes, hashCount, tier }: BlockStored): StoreOutcome {
    for (let from = 0; from < hashCount; from += STORE_TOKENS_MAX) {
      const count = this.#copyHashes(hashLanes, from, Math.min(from + STORE_TOKENS_MAX, hashCount));
      const outcome = STORE_OUTCOMES[this.#kernel.storeKnown(count, TIER_CODE[tier])];
      if (outcome !== "stored") return outcome;
    }
    return "stored";
  }

  remove({ hashLanes, hashCount, tier }: BlockRemoved): void {
    for (let from = 0; from < hashCount; from += STORE_TOKENS_MAX) {
      const count = this.#copyHashes(hashLanes, from, Math.min(from + STORE_TOKENS_MAX, hashCount));
      this.#kernel.removeBlocks(count, TIER_CODE[tier]);
    }
  }

  #storeRun({ hashLanes, tokens, blockSize, tier }: BlockStored, first: number, end: number): StoreOutcome {
    const blocksMax = Math.floor(STORE_TOKENS_MAX / blockSize);
    for (let from = first; from < end; from += blocksMax) {
      const count = this.#copyHashes(hashLanes, from, Math.min(from + blocksMax, end));
      copyLanes(tokens, from * blockSize, (from + count) * blockSize, this.#tokens);
      const outcome = STORE_OUTCOMES[this.#kernel.storeBlocks(count, TIER_CODE[tier])];
      if (outcome !== "stored") return outcome;
    }
    return "stored";
  }

  #copyHashes(hashLanes: Uint32Array, from: number, to: number): number {
    copyLanes(hashLanes, from * 2, to * 2, this.#hashes);
    return to - from;
  }
}

/** Up to here a loop is faster than a view and a copy of memory. */
const LOOP_LANES_MAX = 64;

function copyLanes(source: Uint32Array, from: number, to: number, target: Uint32Array): void {
  if (to - from > LOOP_LANES_MAX) target.set(source.subarray(from, to));
  else for (let lane = from; lane < to; lane++) target[lane - from] = source[lane];
}

/** The event's blocks from number `first` on, which has one before it. */
export function followingBlocks(event: BlockStored, first: number): BlockStored {
  const { hashLanes, hashCount, tokens, blockSize, namespace } = event;
  return {
    ...event,
    hashLanes: hashLanes.subarray(2 * first),
    hashCount: hashCount - first,
    hasParent: true,
    parentLow: hashLanes[2 * first - 2],
    parentHigh: hashLanes[2 * first - 1],
    tokens: tokens.subarray(first * blockSize),
    tokenCount: (hashCount - first) * blockSize,
    namespace: namespace && { root: null, extraKeys: namespace.extraKeys?.slice(first) ?? null },
  };
}

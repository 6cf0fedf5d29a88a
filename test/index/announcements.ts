/** Events as an engine announces them, from plain numbers: what the writer under test and the reference are both told. */

import type { KvEventSink, Namespace, Tier } from "#domain";

/** One event, given to whatever takes events. */
export type Announcement = (sink: KvEventSink) => void;

/** An engine hash; a bigint where 53 bits are too few. */
export type EngineHash = number | bigint;

export interface StoreOptions {
  parent?: EngineHash;
  tier?: Tier;
  /** Tokens per block; by default what makes the tokens fit the hashes. */
  blockSize?: number;
  namespace?: Namespace;
}

/** Low and high words of engine hashes, as decoders hand them over. */
export function hashLanes(hashes: readonly EngineHash[]): Uint32Array {
  const lanes = new Uint32Array(hashes.length * 2);
  for (const [n, hash] of hashes.entries()) {
    lanes[n * 2] = Number(BigInt(hash) & 0xffffffffn);
    lanes[n * 2 + 1] = Number(BigInt(hash) >> 32n);
  }
  return lanes;
}

/** Blocks with their tokens. */
export function store(hashes: readonly EngineHash[], tokens: ArrayLike<number>, options: StoreOptions = {}): Announcement {
  const { parent, tier = "device", blockSize = tokens.length / hashes.length, namespace = null } = options;
  const [parentLow, parentHigh] = hashLanes([parent ?? 0]);
  return (sink) =>
    sink.blockStored({
      hashLanes: hashLanes(hashes),
      hashCount: hashes.length,
      hasParent: parent !== undefined,
      parentLow,
      parentHigh,
      tokens: Uint32Array.from(tokens),
      tokenCount: tokens.length,
      blockSize,
      tier,
      namespace,
    });
}

/** Blocks announced before, now on one more tier: no tokens, block size 0. */
export function storeKnown(hashes: readonly EngineHash[], tier: Tier): Announcement {
  return store(hashes, [], { tier, blockSize: 0 });
}

export function remove(hashes: readonly EngineHash[], tier: Tier = "device"): Announcement {
  return (sink) => sink.blockRemoved({ hashLanes: hashLanes(hashes), hashCount: hashes.length, tier });
}

export const clear: Announcement = (sink) => sink.allBlocksCleared();

/** `count` consecutive numbers from `first`: tokens of a prompt, or hashes of its blocks. */
export function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => first + n);
}

/**
 * What an engine announces about its KV cache, in lanes: 64-bit engine hashes are pairs of u32 (low word at 2n, high word at
 * 2n + 1), tokens are u32. The arrays are the decoder's scratch: they are valid only until the next event.
 */

import type { Namespace } from "./namespace.ts";
import type { Tier } from "./tier.ts";

/** Blocks became resident on a tier: hash n covers tokens [n × blockSize, (n + 1) × blockSize), hash n-1 is its parent. */
export interface BlockStored {
  hashLanes: Uint32Array;
  hashCount: number;
  /** Engine hash of the block before the first one; without it the first block is a root. */
  hasParent: boolean;
  parentLow: number;
  parentHigh: number;
  /** Empty (`tokenCount` 0) when the event only adds a tier to blocks announced before. */
  tokens: Uint32Array;
  tokenCount: number;
  blockSize: number;
  tier: Tier;
  /** Null for plain text on the base model. Its root counts where the event has no parent; extra keys are one per hash. */
  namespace: Namespace | null;
}

/** Blocks left one tier; replicas on other tiers stay. */
export interface BlockRemoved {
  hashLanes: Uint32Array;
  hashCount: number;
  tier: Tier;
}

/** Why one event of a batch was not applied, while the rest of its batch was. */
export const SKIP_REASONS = [
  "unknown-event",
  "malformed-event",
  "malformed-removal",
  "unknown-medium",
  "sparse-group",
  "not-owned",
  "wrong-block-size",
  "wrong-token-count",
  "own-parent",
  "orphan",
  "unknown-parent",
] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

/** Receives the events of one batch in order. */
export interface KvEventSink {
  blockStored(event: BlockStored): void;
  blockRemoved(event: BlockRemoved): void;
  allBlocksCleared(): void;
  /** An event that cannot be understood was left out. */
  eventSkipped(reason: SkipReason): void;
}

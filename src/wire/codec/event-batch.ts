/** A batch of KV events as plain objects, for programs that use Warmpath's codec as a library. */

import type { ExtraKeyLists } from "../dialects/extra-keys.ts";

export interface EventBatch {
  /** Seconds since the Unix epoch; null when the batch has none that is a number. */
  timestampSeconds: number | null;
  events: readonly KvCacheEvent[];
  dataParallelRank: number | null;
}

export type KvCacheEvent = BlockStoredEvent | BlockRemovedEvent | AllBlocksClearedEvent;

/** Blocks became resident: hash n covers tokens [n × blockSize, (n + 1) × blockSize) and is the parent of hash n + 1. */
export interface BlockStoredEvent extends EventDetails {
  type: "BlockStored";
  /** u64 each. */
  blockHashes: readonly bigint[];
  /** Hash of the block before the first one; null at the start of a prompt, and for blocks announced before. */
  parentBlockHash: bigint | null;
  /** u32 each; empty when the event only names blocks announced before. */
  tokenIds: readonly number[];
  blockSize: number;
}

/** Blocks left one medium. */
export interface BlockRemovedEvent extends EventDetails {
  type: "BlockRemoved";
  blockHashes: readonly bigint[];
}

export interface AllBlocksClearedEvent {
  type: "AllBlocksCleared";
}

/** What engines may say about an event besides; a property is absent when the event does not say it. */
export interface EventDetails {
  /** The engine's own number of the LoRA adapter. */
  loraId?: number;
  /** "GPU", "CPU", …; the device when absent. */
  medium?: string;
  loraName?: string;
  /** What sets each block apart beside its tokens; absent when no block has any. */
  extraKeys?: ExtraKeyLists;
  cacheSalt?: string;
  /** KV cache group of a hybrid model. */
  groupIndex?: number;
  /** "full_attention", "sliding_window", … */
  specKind?: string;
  slidingWindowTokens?: number;
  /** "LOCAL" or "REMOTE". */
  locality?: string;
  /** Secondary tier that owns the copy. */
  ownership?: string;
  sessionId?: string;
}

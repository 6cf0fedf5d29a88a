/**
 * What a simulated engine announces, as the engine sees it: whole objects and bigint hashes, on purpose unlike the lanes that
 * Warmpath decodes into, so that a mistake in one form does not hide in the other.
 */

import type { Tier } from "#domain";

/** The tiers of an xLLM engine. */
export type CacheTier = Exclude<Tier, "disk">;

/** How an engine announces a block's copy to the host: with its tokens, or as a placeholder of hashes alone. */
export type OffloadForm = "with-tokens" | "without-tokens";

export type EngineEvent =
  | {
      kind: "stored";
      tier: CacheTier;
      /** One unsigned 64-bit hash per block, each the parent of the next. */
      hashes: bigint[];
      /** The block before the first one; null for a root, and in an event without tokens. */
      parentHash: bigint | null;
      /** The blocks' tokens one after the other, `hashes.length` × `blockSize` of them; or none at all. */
      tokens: Uint32Array;
      /** Tokens per block; 0 in an event without tokens. */
      blockSize: number;
    }
  | { kind: "removed"; tier: CacheTier; hashes: bigint[] }
  | { kind: "cleared" };

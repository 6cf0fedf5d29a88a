/**
 * Frames as an xLLM engine sends them: MessagePack from a library, batch sequences through DataView. Nothing here is shared
 * with the code that reads these frames in Warmpath.
 */

import { Encoder } from "@msgpack/msgpack";
import type { CacheTier, EngineEvent } from "./engine-event.ts";

/** 2^64 - 1 where a watermark would be: the frame that ends a snapshot reply. */
export const END_OF_SNAPSHOT = new Uint8Array(8).fill(0xff);

const MEDIUM: Readonly<Record<CacheTier, string>> = { device: "gpu", host: "cpu" };

// Hashes are bigint and always leave as 64-bit integers, whatever their value.
const encoder = new Encoder({ useBigInt64: true });

/**
 * The payload `[timestamp, events, dp_rank]` of a live batch or of a snapshot, events as typed maps. `timestampSeconds` counts
 * from the Unix epoch.
 */
export function encodeBatch(events: readonly EngineEvent[], dpRank: number, timestampSeconds: number): Uint8Array {
  return encoder.encode([timestampSeconds, events.map(eventMap), dpRank]);
}

/** A batch sequence or watermark as 8 bytes, big-endian. */
export function encodeBatchSeq(batchSeq: number): Uint8Array {
  const frame = new Uint8Array(8);
  new DataView(frame.buffer).setBigUint64(0, BigInt(batchSeq));
  return frame;
}

function eventMap(event: EngineEvent): Record<string, unknown> {
  switch (event.kind) {
    case "stored":
      return {
        type: "BlockStored",
        block_hashes: event.hashes,
        parent_block_hash: event.parentHash,
        // A typed array would be encoded as bytes.
        token_ids: Array.from(event.tokens),
        block_size: event.blockSize,
        medium: MEDIUM[event.tier],
      };
    case "removed":
      return { type: "BlockRemoved", block_hashes: event.hashes, medium: MEDIUM[event.tier] };
    case "cleared":
      return { type: "AllBlocksCleared" };
  }
}

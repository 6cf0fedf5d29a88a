/** The forms in which engines write the same stores: maps or arrays, a whole run of blocks in an event or a block in each. */

import { Encoder } from "@msgpack/msgpack";
import type { EngineEvent } from "#sim";

export interface EventForm {
  name: string;
  shape: "map" | "array";
  blocks: "run" | "single";
}

export const EVENT_FORMS: readonly EventForm[] = [
  { name: "maps of 32 blocks", shape: "map", blocks: "run" },
  { name: "arrays of 32 blocks", shape: "array", blocks: "run" },
  { name: "maps of one block", shape: "map", blocks: "single" },
  { name: "arrays of one block", shape: "array", blocks: "single" },
];

type Stored = Extract<EngineEvent, { kind: "stored" }>;

const encoder = new Encoder({ useBigInt64: true });

/** A batch as vLLM publishes it, of these stores in this form. */
export function encodeStores(events: readonly EngineEvent[], { shape, blocks }: EventForm): Uint8Array {
  const stores = events.filter((event) => event.kind === "stored");
  const formed = blocks === "run" ? stores : stores.flatMap(singleBlocks);
  return encoder.encode([0.5, shape === "map" ? formed.map(asMap) : formed.map(asArray), 0]);
}

function singleBlocks(event: Stored): Stored[] {
  const { hashes, tokens, blockSize, parentHash } = event;
  return hashes.map((hash, n) => ({
    ...event,
    hashes: [hash],
    parentHash: n === 0 ? parentHash : hashes[n - 1],
    tokens: tokens.subarray(n * blockSize, (n + 1) * blockSize),
  }));
}

function asMap({ hashes, parentHash, tokens, blockSize }: Stored): Record<string, unknown> {
  return {
    type: "BlockStored",
    block_hashes: hashes,
    parent_block_hash: parentHash,
    token_ids: Array.from(tokens),
    block_size: blockSize,
    lora_id: null,
    medium: "GPU",
    lora_name: null,
    group_idx: 0,
    kv_cache_spec_kind: "full_attention",
  };
}

function asArray({ hashes, parentHash, tokens, blockSize }: Stored): unknown[] {
  return ["BlockStored", hashes, parentHash, Array.from(tokens), blockSize, null, "GPU", null, null, 0, "full_attention", null];
}

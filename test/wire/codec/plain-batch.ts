/** What a published batch says, from its MessagePack values (or their JSON), with no code of the decoder's. */

import type { EventBatch, KvCacheEvent } from "#wire";
import vectorFile from "../../fixtures/wire/vectors.json";

interface PublishedVector {
  name: string;
  payload: Uint8Array;
  batch: EventBatch;
}

const STORED_FIELDS =
  "block_hashes parent_block_hash token_ids block_size lora_id medium lora_name extra_keys group_idx kv_cache_spec_kind kv_cache_spec_sliding_window".split(
    " ",
  );
const REMOVED_FIELDS = ["block_hashes", "medium", "group_idx"];

const DETAILS = {
  lora_id: "loraId",
  medium: "medium",
  lora_name: "loraName",
  cache_salt: "cacheSalt",
  group_idx: "groupIndex",
  kv_cache_spec_kind: "specKind",
  kv_cache_spec_sliding_window: "slidingWindowTokens",
  locality: "locality",
  ownership: "ownership",
  session_id: "sessionId",
};

/** Every vector of the fixture. */
export const PUBLISHED_VECTORS: PublishedVector[] = vectorFile.vectors.map(({ name, batch, payload }) => ({
  name,
  payload: Uint8Array.fromHex(payload),
  batch: plainBatch(batch),
}));

// biome-ignore lint/suspicious/noExplicitAny: values as they come from JSON
function plainBatch(batch: any): EventBatch {
  const [ts, events, rank = null] = Array.isArray(batch) ? batch : [batch.ts, batch.events, batch.data_parallel_rank];
  return { timestampSeconds: ts, events: events.map(plainEvent), dataParallelRank: rank };
}

// biome-ignore lint/suspicious/noExplicitAny: values as they come from JSON
function plainEvent(event: any): KvCacheEvent {
  if (Array.isArray(event)) return plainEvent(byName(event));
  const details: Record<string, unknown> = {};
  for (const [field, property] of Object.entries(DETAILS)) if (event[field] != null) details[property] = event[field];
  if (event.extra_keys?.some((keys: unknown) => keys !== null)) details.extraKeys = event.extra_keys;
  const blockHashes = event.block_hashes?.map(plainHash);
  if (event.type === "AllBlocksCleared") return { type: "AllBlocksCleared" };
  if (event.type === "BlockRemoved") return { type: "BlockRemoved", blockHashes, ...details };
  return {
    type: "BlockStored",
    blockHashes,
    parentBlockHash: event.parent_block_hash === null ? null : plainHash(event.parent_block_hash),
    tokenIds: event.token_ids.map((token: number | [number, number]) => (Array.isArray(token) ? token[0] : token)),
    blockSize: event.block_size,
    ...details,
  };
}

function byName([type, ...values]: unknown[]): Record<string, unknown> {
  const fields = type === "BlockStored" ? STORED_FIELDS : REMOVED_FIELDS;
  const event = Object.fromEntries(values.map((value, index) => [fields[index], value]));
  const name = event.lora_name;
  return typeof name === "object" ? { ...event, ...name, lora_name: null, type } : { ...event, type };
}

/** A number, or text for what JSON cannot hold. */
function plainHash(hash: number | string): bigint {
  if (typeof hash === "number") return BigInt.asUintN(64, BigInt(hash));
  const [, kind, digits] = /^<(int|bin):(.*)>$/.exec(hash) ?? [];
  return kind === "int" ? BigInt.asUintN(64, BigInt(digits)) : BigInt(`0x${digits.slice(-16)}`);
}

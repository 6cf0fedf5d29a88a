/** Writes batches of KV events in the shape that a given engine version would. */

import type { ExtraKey } from "#domain";
import type { EventField } from "../dialects/event-fields.ts";
import { EMPTY_TUPLE_HASH } from "../dialects/sglang.ts";
import { MessagePackWriter, type Packable } from "../msgpack/writer.ts";
import type { BlockRemovedEvent, BlockStoredEvent, EventBatch, KvCacheEvent } from "./event-batch.ts";
import { type EventShape, SHAPE_LAYOUTS, type ShapeLayout } from "./event-shape.ts";

const ROOT_PARENT: Readonly<Record<ShapeLayout["rootParent"], bigint | null>> = {
  nil: null,
  "empty-tuple-hash": (BigInt(EMPTY_TUPLE_HASH.high) << 32n) | BigInt(EMPTY_TUPLE_HASH.low),
};

/**
 * The payload of a batch in `shape`, today's vLLM by default. What an event or the batch says and the shape has no field for is left
 * out. Throws RangeError for an integer that has no 64 bits.
 */
export function encodeEventBatch(batch: EventBatch, shape: EventShape = "vllm-9"): Uint8Array {
  const layout = SHAPE_LAYOUTS[shape];
  const timestamp = batch.timestampSeconds === null ? null : { float: batch.timestampSeconds };
  const events = batch.events.map((event) => packEvent(event, layout));
  const writer = new MessagePackWriter();
  writer.write(layout.namesRank ? [timestamp, events, batch.dataParallelRank] : [timestamp, events]);
  return writer.take();
}

function packEvent(event: KvCacheEvent, layout: ShapeLayout): Packable {
  switch (event.type) {
    case "BlockStored":
      return packFields(event, layout.stored, layout);
    case "BlockRemoved":
      return packFields(event, layout.removed, layout);
    case "AllBlocksCleared":
      return layout.form === "map" ? new Map([["type", event.type]]) : [event.type];
  }
}

function packFields(event: BlockStoredEvent | BlockRemovedEvent, fields: readonly EventField[], layout: ShapeLayout): Packable {
  const values = fields.map((field) => [field, packField(event, field, layout)] as const);
  switch (layout.form) {
    case "map": {
      const said = values.filter(([field, value]) => value !== null || layout.keptFields.includes(field));
      return new Map<string, Packable>([["type", event.type], ...said]);
    }
    case "array": {
      const metadata = event.type === "BlockStored" && layout.salt === "metadata" ? saltMetadata(event.cacheSalt) : [];
      return [event.type, ...values.map(([, value]) => value), ...metadata];
    }
  }
}

/** The place behind the last field, which only salted stores have. */
function saltMetadata(cacheSalt: string | undefined): Packable[] {
  return cacheSalt === undefined ? [] : [new Map([["cache_salt", cacheSalt]])];
}

/** The value of a field, null when the event does not say it. */
function packField(event: BlockStoredEvent | BlockRemovedEvent, field: EventField, layout: ShapeLayout): Packable {
  const stored = event.type === "BlockStored" ? event : null;
  const hash = layout.hashes === "signed" ? BigInt.asIntN : BigInt.asUintN;
  switch (field) {
    case "block_hashes":
      return event.blockHashes.map((value) => hash(64, value));
    case "parent_block_hash": {
      const parent = stored?.parentBlockHash ?? ROOT_PARENT[layout.rootParent];
      return parent === null ? null : hash(64, parent);
    }
    case "token_ids":
      return stored?.tokenIds ?? null;
    case "block_size":
      return stored?.blockSize ?? null;
    case "lora_id":
      return event.loraId ?? null;
    case "medium":
      return event.medium ?? null;
    case "lora_name":
      return event.loraName ?? null;
    case "extra_keys":
      return event.extraKeys?.map((keys) => keys?.map(packExtraKey) ?? null) ?? null;
    case "group_idx":
      return event.groupIndex ?? null;
    case "kv_cache_spec_kind":
      return event.specKind ?? null;
    case "kv_cache_spec_sliding_window":
      return event.slidingWindowTokens ?? null;
    case "cache_salt":
      return event.cacheSalt ?? null;
    case "locality":
      return event.locality ?? null;
    case "ownership":
      return event.ownership ?? null;
    case "session_id":
      return event.sessionId ?? null;
  }
}

function packExtraKey(key: ExtraKey): Packable {
  if (typeof key === "string" || "packed" in key) return key;
  return "digest" in key ? key.digest : [key.identifier, key.offset];
}

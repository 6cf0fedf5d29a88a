/**
 * Reads one event in either of its forms: a map with `type` and fields by name in any order, or an array of tag and fields by
 * position. Passes exactly one MessagePack value, whatever it is.
 */

import { KIND } from "../msgpack/format.ts";
import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import { EVENT_FIELDS, type EventField } from "./event-fields.ts";

const EVENT_TAGS = ["BlockStored", "BlockRemoved", "AllBlocksCleared"] as const;

/** `unknown`: a tag that is none of these; `malformed`: no tag at all. */
export type EventTag = (typeof EVENT_TAGS)[number] | "unknown" | "malformed";

/** Fields of the array forms, in order behind the tag. */
export const POSITIONS: Record<EventTag, readonly EventField[]> = {
  BlockStored: [
    "block_hashes",
    "parent_block_hash",
    "token_ids",
    "block_size",
    "lora_id",
    "medium",
    "lora_name",
    "extra_keys",
    "group_idx",
    "kv_cache_spec_kind",
    "kv_cache_spec_sliding_window",
  ],
  BlockRemoved: ["block_hashes", "medium", "group_idx"],
  AllBlocksCleared: [],
  unknown: [],
  malformed: [],
};

const TAG_TABLE = new NameTable(EVENT_TAGS);
const TYPE_KEY = EVENT_FIELDS.length;
const KEY_TABLE = new NameTable([...EVENT_FIELDS, "type"]);

/** Takes the fields of an event; `read` passes exactly one value. */
export interface FieldReader {
  read(field: EventField, reader: MessagePackReader): void;
}

/** Passes one event, hands its known fields to `fields` and returns its tag. */
export function readEvent(reader: MessagePackReader, fields: FieldReader): EventTag {
  switch (reader.peek()) {
    case KIND.MAP:
      return readMapEvent(reader, fields);
    case KIND.ARRAY:
      return readArrayEvent(reader, fields);
    default:
      reader.skip();
      return "malformed";
  }
}

function readMapEvent(reader: MessagePackReader, fields: FieldReader): EventTag {
  let tag: EventTag = "malformed";
  for (let pairsLeft = reader.readMapHeader(); pairsLeft > 0; pairsLeft--) {
    const key = KEY_TABLE.read(reader);
    if (key === TYPE_KEY) tag = readTag(reader);
    else if (key >= 0) fields.read(EVENT_FIELDS[key], reader);
    else reader.skip();
  }
  return tag;
}

function readArrayEvent(reader: MessagePackReader, fields: FieldReader): EventTag {
  const length = reader.readArrayHeader();
  if (length < 1) return "malformed";
  const tag = readTag(reader);
  const positions = POSITIONS[tag];
  const known = Math.min(length - 1, positions.length);
  for (let position = 0; position < known; position++) fields.read(positions[position], reader);
  reader.skipMany(length - 1 - known);
  return tag;
}

function readTag(reader: MessagePackReader): EventTag {
  if (reader.peek() !== KIND.TEXT) {
    reader.skip();
    return "malformed";
  }
  return EVENT_TAGS[TAG_TABLE.read(reader)] ?? "unknown";
}

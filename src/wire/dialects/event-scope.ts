/**
 * Whether an event is one that the directory answers for: of plain text, and of a KV cache group with full attention. The blocks
 * of any other must never match a plain prompt, so that what cannot be read counts as outside.
 */

import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";

const FULL_ATTENTION_TABLE = new NameTable(["full_attention", "mla_attention", "sink_full_attention"]);

/** Fields that decide it, by their names in an event map. */
export type ScopeField = "lora_id" | "lora_name" | "cache_salt" | "extra_keys" | "group_idx" | "kv_cache_spec_kind";

export class EventScope {
  #isNamespaced = false;
  /** Null when the event does not say what its group attends to: the first group is taken for full attention then. */
  #isFullAttention: boolean | null = null;
  #isFirstGroup = true;

  /** Forgets the last event: one that says nothing is inside. */
  clear(): void {
    this.#isNamespaced = false;
    this.#isFullAttention = null;
    this.#isFirstGroup = true;
  }

  get isInside(): boolean {
    return !this.#isNamespaced && (this.#isFullAttention ?? this.#isFirstGroup);
  }

  /** Reads the value of `field`, whatever it is. */
  read(field: ScopeField, reader: MessagePackReader): void {
    switch (field) {
      case "kv_cache_spec_kind":
        this.#isFullAttention = readIsFullAttention(reader);
        break;
      case "group_idx":
        this.#isFirstGroup = readIsNilOrZero(reader);
        break;
      case "lora_id":
        this.#isNamespaced = !readIsNilOrZero(reader) || this.#isNamespaced;
        break;
      case "lora_name":
      case "cache_salt":
        this.#isNamespaced = !readIsNilOrEmptyText(reader) || this.#isNamespaced;
        break;
      case "extra_keys":
        this.#isNamespaced = !readIsNilThroughout(reader) || this.#isNamespaced;
        break;
    }
  }
}

function pass(reader: MessagePackReader): false {
  reader.skip();
  return false;
}

function readIsNilOrZero(reader: MessagePackReader): boolean {
  if (reader.readNil()) return true;
  const value = reader.readUint32();
  return value < 0 ? pass(reader) : value === 0;
}

function readIsNilOrEmptyText(reader: MessagePackReader): boolean {
  if (reader.readNil()) return true;
  if (reader.readText()) return reader.rawStart === reader.rawEnd;
  return pass(reader);
}

/** Nil, or an array (one element per block) of nothing but nils and empty arrays. */
function readIsNilThroughout(reader: MessagePackReader): boolean {
  if (reader.readNil()) return true;
  const count = reader.readArrayHeader();
  if (count < 0) return pass(reader);
  for (let index = 0; index < count; index++) {
    if (reader.readNil()) continue;
    const keyCount = reader.readArrayHeader();
    if (keyCount === 0) continue;
    reader.skipMany(Math.max(keyCount, 1) + count - index - 1); // the keys, or the one value that is no array, and the rest
    return false;
  }
  return true;
}

function readIsFullAttention(reader: MessagePackReader): boolean | null {
  if (reader.readNil()) return null;
  if (!reader.readText()) return pass(reader);
  return FULL_ATTENTION_TABLE.find(reader.bytes, reader.rawStart, reader.rawEnd) >= 0;
}

/** One event's fields as plain values, whatever group, medium or namespace it is of: for programs, not for the index. */

import type { SkipReason } from "#domain";
import type { DialectRules } from "../dialects/dialect.ts";
import { type DigestFolding, readEngineHash, readEngineHashes } from "../dialects/engine-hash.ts";
import type { EventField } from "../dialects/event-fields.ts";
import type { EventTag, FieldReader } from "../dialects/event-reader.ts";
import { readExtraKeys } from "../dialects/extra-keys.ts";
import { readSaltMetadata } from "../dialects/salt-metadata.ts";
import { readTokenIds } from "../dialects/token-ids.ts";
import { KIND } from "../msgpack/format.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import { readSafeInteger, readString } from "../msgpack/values.ts";
import type { EventDetails, KvCacheEvent } from "./event-batch.ts";

export class EventValues implements FieldReader {
  readonly #folding: DigestFolding;
  readonly #rootParent: DialectRules["rootParent"];
  #details: EventDetails = {};
  #blockHashes: bigint[] | null = null;
  #parentBlockHash: bigint | null = null;
  #hasParentField = false;
  #tokenIds: number[] | null = null;
  #blockSize: number | null = null;
  #isReadable = true;

  constructor(folding: DigestFolding, rootParent: DialectRules["rootParent"]) {
    this.#folding = folding;
    this.#rootParent = rootParent;
  }

  /** Forgets the last event. */
  clear(): void {
    this.#details = {};
    this.#blockHashes = null;
    this.#parentBlockHash = null;
    this.#hasParentField = false;
    this.#tokenIds = null;
    this.#blockSize = null;
    this.#isReadable = true;
  }

  /** The fields as an event of `tag`, or why they are none. The event is the caller's. */
  toEvent(tag: EventTag): KvCacheEvent | SkipReason {
    switch (tag) {
      case "BlockStored":
        return this.#toStored();
      case "BlockRemoved": {
        const blockHashes = this.#blockHashes;
        return blockHashes === null || !this.#isReadable ? "malformed-event" : { type: tag, blockHashes, ...this.#details };
      }
      case "AllBlocksCleared":
        return { type: tag };
      case "unknown":
        return "unknown-event";
      case "malformed":
        return "malformed-event";
    }
  }

  #toStored(): KvCacheEvent | SkipReason {
    const blockHashes = this.#blockHashes;
    const tokenIds = this.#tokenIds;
    const blockSize = this.#blockSize;
    const isWhole = blockHashes !== null && this.#hasParentField && tokenIds !== null && blockSize !== null;
    if (!isWhole || !this.#isReadable) return "malformed-event";
    const parentBlockHash = this.#parentBlockHash;
    return { type: "BlockStored", blockHashes, parentBlockHash, tokenIds, blockSize, ...this.#details };
  }

  /** Reads the value of `field`, whatever it is. */
  read(field: EventField, reader: MessagePackReader): void {
    if (field === "parent_block_hash") this.#hasParentField = true;
    if (reader.readNil()) return;
    switch (field) {
      case "block_hashes":
        this.#blockHashes = this.#readable(this.#readHashes(reader));
        break;
      case "parent_block_hash":
        this.#parentBlockHash = this.#readParent(reader);
        break;
      case "token_ids":
        this.#tokenIds = this.#readable(readTokens(reader));
        break;
      case "block_size":
        this.#blockSize = this.#readable(readSafeInteger(reader));
        break;
      case "lora_name":
        this.#readLoraName(reader);
        break;
      case "extra_keys": {
        const lists = readExtraKeys(reader);
        if (lists === "unreadable") this.#isReadable = false;
        else if (lists !== null) this.#details.extraKeys = lists;
        break;
      }
      case "lora_id":
        this.#keep("loraId", readSafeInteger(reader));
        break;
      case "group_idx":
        this.#keep("groupIndex", readSafeInteger(reader));
        break;
      case "kv_cache_spec_sliding_window":
        this.#keep("slidingWindowTokens", readSafeInteger(reader));
        break;
      case "medium":
        this.#keep("medium", readString(reader));
        break;
      case "kv_cache_spec_kind":
        this.#keep("specKind", readString(reader));
        break;
      case "cache_salt":
        this.#keep("cacheSalt", readString(reader));
        break;
      case "locality":
        this.#keep("locality", readString(reader));
        break;
      case "ownership":
        this.#keep("ownership", readString(reader));
        break;
      case "session_id":
        this.#keep("sessionId", readString(reader));
        break;
    }
  }

  #keep<Property extends keyof EventDetails>(property: Property, value: Required<EventDetails>[Property] | null): void {
    if (value === null) this.#isReadable = false;
    else this.#details[property] = value;
  }

  #readable<Value>(value: Value | null): Value | null {
    if (value === null) this.#isReadable = false;
    return value;
  }

  #readLoraName(reader: MessagePackReader): void {
    const kind = reader.peek();
    if (kind === KIND.TEXT) this.#keep("loraName", readString(reader));
    else if (kind === KIND.MAP) this.#keepSalt(readSaltMetadata(reader));
    else reader.skip();
  }

  #keepSalt(salt: string | null): void {
    if (salt !== "") this.#keep("cacheSalt", salt);
  }

  #readHashes(reader: MessagePackReader): bigint[] | null {
    const count = reader.readArrayHeader();
    if (count < 0) {
      reader.skip();
      return null;
    }
    const lanes = new Uint32Array(2 * count);
    if (!readEngineHashes(reader, lanes, count, this.#folding)) return null;
    return Array.from({ length: count }, (_, index) => toHash(lanes[2 * index], lanes[2 * index + 1]));
  }

  #readParent(reader: MessagePackReader): bigint | null {
    if (!readEngineHash(reader, this.#folding)) {
      this.#isReadable = false;
      return null;
    }
    const root = this.#rootParent;
    return root !== null && reader.low === root.low && reader.high === root.high ? null : toHash(reader.low, reader.high);
  }
}

function readTokens(reader: MessagePackReader): number[] | null {
  const count = reader.readArrayHeader();
  if (count < 0) {
    reader.skip();
    return null;
  }
  const lane = new Uint32Array(count);
  return readTokenIds(reader, lane, count) ? Array.from(lane) : null;
}

function toHash(low: number, high: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

/**
 * One event's fields as they are read, in any order, and what they amount to. The lanes are the decoder's scratch: they grow to
 * the largest event so far, and never beyond twice as many elements as its payload has bytes.
 */

import type { BlockRemoved, BlockStored, SkipReason } from "#domain";
import type { MessagePackReader } from "../msgpack/reader.ts";
import type { AttentionGroups } from "./attention-groups.ts";
import type { DialectRules } from "./dialect.ts";
import { readEngineHash, readEngineHashes } from "./engine-hash.ts";
import { EventNamespace } from "./event-namespace.ts";
import { EventScope } from "./event-scope.ts";
import { readTokenIds } from "./token-ids.ts";

/** Fields that are read, by their names in an event map. */
export const EVENT_FIELDS = [
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
  "cache_salt",
  "locality",
  "ownership",
  "session_id",
] as const;

export type EventField = (typeof EVENT_FIELDS)[number];

/** A field as a bit of a set. */
const BIT = Object.fromEntries(EVENT_FIELDS.map((field, position) => [field, 1 << position])) as Record<EventField, number>;

const STORED_NEEDS = BIT.block_hashes | BIT.parent_block_hash | BIT.token_ids | BIT.block_size;
const REMOVED_NEEDS = BIT.block_hashes;

/** Large enough for a prompt of common length at once; a larger event makes its lanes grow. */
const FIRST_TOKENS = 32_768;
const FIRST_HASHES = 4096;

export class EventFields {
  readonly #rules: DialectRules;
  readonly #stored: BlockStored = {
    hashLanes: new Uint32Array(2 * FIRST_HASHES),
    hashCount: 0,
    hasParent: false,
    parentLow: 0,
    parentHigh: 0,
    tokens: new Uint32Array(FIRST_TOKENS),
    tokenCount: 0,
    blockSize: 0,
    tier: "device",
    namespace: null,
  };
  readonly #removed: BlockRemoved = { hashLanes: this.#stored.hashLanes, hashCount: 0, tier: "device" };

  /** Sets of fields that were there in a usable form, and in an unusable one. */
  #usable = 0;
  #unusable = 0;
  readonly #scope = new EventScope();
  readonly #namespace = new EventNamespace();

  constructor(rules: DialectRules) {
    this.#rules = rules;
  }

  /** Forgets the last event. */
  clear(): void {
    this.#usable = 0;
    this.#unusable = 0;
    this.#scope.clear();
    this.#namespace.clear();
  }

  /**
   * Reads the value of `field`, whatever it is. When an event repeats a field, the last one counts that says something: nil in
   * an optional field, which most of them hold, says nothing.
   */
  read(field: EventField, reader: MessagePackReader): void {
    const bit = BIT[field];
    if ((bit & STORED_NEEDS) === 0 && reader.readNil()) return;
    const isUsable = this.#readValue(field, reader);
    this.#usable = isUsable ? this.#usable | bit : this.#usable & ~bit;
    this.#unusable = isUsable ? this.#unusable & ~bit : this.#unusable | bit;
  }

  /** The fields as a store, or why it does not count. Valid until the next event. */
  toStored(groups: AttentionGroups): BlockStored | SkipReason {
    const stored = this.#stored;
    const obstacle = this.#obstacle(STORED_NEEDS, groups);
    const { tier } = this.#scope;
    if (obstacle !== null || tier === null) return obstacle ?? "unknown-medium";
    if (this.#rules.namespaces === "skipped" && !this.#namespace.isPlain) return "unknown-event";
    const namespace = this.#namespace.toNamespace(stored.hashCount, stored.hasParent);
    if (namespace === "malformed") return "malformed-event";
    stored.namespace = namespace;
    stored.tier = tier;
    return stored;
  }

  /** The fields as a removal; as `toStored`. Engine hashes tell namespaces apart, so that a removal needs none. */
  toRemoved(groups: AttentionGroups): BlockRemoved | SkipReason {
    const removed = this.#removed;
    const obstacle = this.#obstacle(REMOVED_NEEDS, groups);
    const { tier } = this.#scope;
    if (obstacle === "malformed-event") return "malformed-removal";
    if (obstacle !== null || tier === null) return obstacle ?? "unknown-medium";
    removed.hashLanes = this.#stored.hashLanes;
    removed.hashCount = this.#stored.hashCount;
    removed.tier = tier;
    return removed;
  }

  /** An event out of scope is that first of all: other groups' fields may be odd. */
  #obstacle(needed: number, groups: AttentionGroups): SkipReason | null {
    const outside = this.#scope.outside(groups);
    if (outside !== null) return outside;
    const isWhole = (this.#usable & needed) === needed && (this.#unusable & (needed | BIT.medium)) === 0;
    return isWhole ? null : "malformed-event";
  }

  #readValue(field: EventField, reader: MessagePackReader): boolean {
    switch (field) {
      case "block_hashes":
        return this.#readHashes(reader);
      case "parent_block_hash":
        return this.#readParent(reader);
      case "token_ids":
        return this.#readTokens(reader);
      case "block_size":
        return this.#readBlockSize(reader);
      case "medium":
      case "kv_cache_spec_kind":
      case "group_idx":
      case "locality":
      case "ownership":
        return this.#scope.read(field, reader);
      case "lora_id":
      case "lora_name":
      case "cache_salt":
      case "extra_keys":
        this.#namespace.read(field, reader);
        return true;
      case "kv_cache_spec_sliding_window":
      case "session_id":
        reader.skip();
        return true;
    }
  }

  #readHashes(reader: MessagePackReader): boolean {
    const count = reader.readArrayHeader();
    if (count < 0) return passUnusable(reader);
    if (2 * count > this.#stored.hashLanes.length) this.#stored.hashLanes = new Uint32Array(2 * roundUp(count));
    this.#stored.hashCount = count;
    return readEngineHashes(reader, this.#stored.hashLanes, count, "last8");
  }

  #readTokens(reader: MessagePackReader): boolean {
    const count = reader.readArrayHeader();
    if (count < 0) return passUnusable(reader);
    if (count > this.#stored.tokens.length) this.#stored.tokens = new Uint32Array(roundUp(count));
    this.#stored.tokenCount = count;
    return readTokenIds(reader, this.#stored.tokens, count);
  }

  #readParent(reader: MessagePackReader): boolean {
    this.#stored.hasParent = false;
    if (reader.readNil()) return true;
    if (!readEngineHash(reader, "last8")) return false;
    const { rootParent } = this.#rules;
    this.#stored.hasParent = rootParent === null || reader.low !== rootParent.low || reader.high !== rootParent.high;
    this.#stored.parentLow = reader.low;
    this.#stored.parentHigh = reader.high;
    return true;
  }

  #readBlockSize(reader: MessagePackReader): boolean {
    const blockSize = reader.readUint32();
    if (blockSize < 0) return passUnusable(reader);
    this.#stored.blockSize = blockSize;
    return true;
  }
}

function passUnusable(reader: MessagePackReader): false {
  reader.skip();
  return false;
}

function roundUp(count: number): number {
  return 2 ** Math.ceil(Math.log2(count));
}

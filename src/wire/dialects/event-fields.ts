/**
 * One event's fields as they are read, in any order, and what they amount to. The lanes are the decoder's scratch: they grow to
 * the largest event so far, and never beyond twice as many elements as its payload has bytes.
 */

import type { BlockRemoved, BlockStored, Tier } from "#domain";
import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import { readEngineHash, readEngineHashes } from "./engine-hash.ts";
import { EventScope } from "./event-scope.ts";

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
  "cache_salt",
] as const;

export type EventField = (typeof EVENT_FIELDS)[number];

/** A field as a bit of a set. */
const BIT = Object.fromEntries(EVENT_FIELDS.map((field, position) => [field, 1 << position])) as Record<EventField, number>;

const STORED_NEEDS = BIT.block_hashes | BIT.parent_block_hash | BIT.token_ids | BIT.block_size;
const REMOVED_NEEDS = BIT.block_hashes;

const MEDIUM_TIERS = { gpu: "device", cpu: "host", disk: "disk", storage: "disk" } as const satisfies Record<string, Tier>;
const MEDIUM_NAMES = Object.keys(MEDIUM_TIERS) as (keyof typeof MEDIUM_TIERS)[];
const MEDIUM_TABLE = new NameTable(MEDIUM_NAMES, "ignore-case");

/** Large enough for a prompt of common length at once; a larger event makes its lanes grow. */
const FIRST_TOKENS = 32_768;
const FIRST_HASHES = 4096;

export class EventFields {
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
  };
  readonly #removed: BlockRemoved = { hashLanes: this.#stored.hashLanes, hashCount: 0, tier: "device" };

  /** Sets of fields that were there in a usable form, and in an unusable one. */
  #usable = 0;
  #unusable = 0;
  #tier: Tier | null = "device";
  readonly #scope = new EventScope();

  /** Forgets the last event. */
  clear(): void {
    this.#usable = 0;
    this.#unusable = 0;
    this.#tier = "device";
    this.#scope.clear();
  }

  /** Reads the value of `field`, whatever it is; the last one counts when an event repeats a field. */
  read(field: EventField, reader: MessagePackReader): void {
    const isUsable = this.#readValue(field, reader);
    this.#usable = isUsable ? this.#usable | BIT[field] : this.#usable & ~BIT[field];
    this.#unusable = isUsable ? this.#unusable & ~BIT[field] : this.#unusable | BIT[field];
  }

  /** The fields as a store, why it cannot be one, or null for an unknown medium. Valid until the next event. */
  toStored(): BlockStored | "malformed-event" | "unknown-event" | "unknown-medium" {
    const obstacle = this.#obstacle(STORED_NEEDS);
    if (obstacle !== null || this.#tier === null) return obstacle ?? "unknown-medium";
    this.#stored.tier = this.#tier;
    return this.#stored;
  }

  /** The fields as a removal; as `toStored`. */
  toRemoved(): BlockRemoved | "malformed-event" | "unknown-event" | "unknown-medium" {
    const obstacle = this.#obstacle(REMOVED_NEEDS);
    if (obstacle !== null || this.#tier === null) return obstacle ?? "unknown-medium";
    this.#removed.hashLanes = this.#stored.hashLanes;
    this.#removed.hashCount = this.#stored.hashCount;
    this.#removed.tier = this.#tier;
    return this.#removed;
  }

  #obstacle(needed: number): "malformed-event" | "unknown-event" | null {
    const isWhole = (this.#usable & needed) === needed && (this.#unusable & (needed | BIT.medium)) === 0;
    if (!isWhole) return "malformed-event";
    return this.#scope.isInside ? null : "unknown-event";
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
        return this.#readMedium(reader);
      case "kv_cache_spec_kind":
      case "group_idx":
      case "lora_id":
      case "lora_name":
      case "cache_salt":
      case "extra_keys":
        this.#scope.read(field, reader);
        return true;
    }
  }

  #readHashes(reader: MessagePackReader): boolean {
    const count = reader.readArrayHeader();
    if (count < 0) return passUnusable(reader);
    if (2 * count > this.#stored.hashLanes.length) this.#stored.hashLanes = new Uint32Array(2 * roundUp(count));
    this.#stored.hashCount = count;
    return readEngineHashes(reader, this.#stored.hashLanes, count);
  }

  #readTokens(reader: MessagePackReader): boolean {
    const count = reader.readArrayHeader();
    if (count < 0) return passUnusable(reader);
    if (count > this.#stored.tokens.length) this.#stored.tokens = new Uint32Array(roundUp(count));
    this.#stored.tokenCount = count;
    return reader.readUint32s(this.#stored.tokens, count);
  }

  #readParent(reader: MessagePackReader): boolean {
    this.#stored.hasParent = !reader.readNil();
    if (!this.#stored.hasParent) return true;
    if (!readEngineHash(reader)) return false;
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

  #readMedium(reader: MessagePackReader): boolean {
    this.#tier = "device";
    if (reader.readNil()) return true;
    if (!reader.readText()) return passUnusable(reader);
    const position = MEDIUM_TABLE.find(reader.bytes, reader.rawStart, reader.rawEnd);
    this.#tier = position < 0 ? null : MEDIUM_TIERS[MEDIUM_NAMES[position]];
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

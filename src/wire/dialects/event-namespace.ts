/**
 * The namespace of a store, from what engines say about it in several places: the adapter by name or only by number, extra keys
 * per block, a cache salt as a key of block 0, as a field, or as metadata in the adapter name's place. However it is said, the same
 * namespace becomes the same bytes. Plain text costs no allocation.
 */

import { type ExtraKey, extraKeyBytes, loraIdRoot, loraNameRoot, type Namespace } from "#domain";
import { KIND } from "../msgpack/format.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import { readSafeInteger, readString } from "../msgpack/values.ts";
import { type ExtraKeyLists, readExtraKeys } from "./extra-keys.ts";
import { readSaltMetadata } from "./salt-metadata.ts";

/** Fields that decide it, by their names in an event map. */
export type NamespaceField = "lora_id" | "lora_name" | "cache_salt" | "extra_keys";

export class EventNamespace {
  #loraId = 0;
  #loraName = "";
  #cacheSalt = "";
  #extraKeys: ExtraKeyLists | null = null;
  #isReadable = true;

  /** Forgets the last event: one that says nothing is plain. */
  clear(): void {
    this.#loraId = 0;
    this.#loraName = "";
    this.#cacheSalt = "";
    this.#extraKeys = null;
    this.#isReadable = true;
  }

  /** Whether the event is of plain text on the base model; false also when that cannot be read. */
  get isPlain(): boolean {
    const isSilent = this.#loraId === 0 && this.#loraName === "" && this.#cacheSalt === "" && this.#extraKeys === null;
    return isSilent && this.#isReadable;
  }

  /** Passes the value of `field`, which is not nil, whatever else it is. */
  read(field: NamespaceField, reader: MessagePackReader): void {
    switch (field) {
      case "lora_id":
        this.#loraId = this.#readable(readSafeInteger(reader), 0);
        break;
      case "lora_name":
        this.#readLoraName(reader);
        break;
      case "cache_salt":
        this.#cacheSalt = this.#readable(readString(reader), "");
        break;
      case "extra_keys": {
        const lists = readExtraKeys(reader);
        this.#extraKeys = lists === "unreadable" ? null : lists;
        if (lists === "unreadable") this.#isReadable = false;
        break;
      }
    }
  }

  /** The namespace of a store of `hashCount` blocks, null for plain text; "malformed" when it cannot be told. */
  toNamespace(hashCount: number, hasParent: boolean): Namespace | null | "malformed" {
    if (this.isPlain) return null;
    if (!this.#isReadable || (this.#extraKeys !== null && this.#extraKeys.length !== hashCount)) return "malformed";
    const root = this.#root();
    const extraKeys = this.#extraKeysByBlock(hashCount, hasParent);
    return root === null && extraKeys === null ? null : { root, extraKeys };
  }

  #root(): Uint8Array | null {
    if (this.#loraName !== "") return loraNameRoot(this.#loraName);
    return this.#loraId === 0 ? null : loraIdRoot(this.#loraId);
  }

  /** A child inherits the salt from its root. */
  #extraKeysByBlock(hashCount: number, hasParent: boolean): (Uint8Array | null)[] | null {
    const rootKeys = hasParent || this.#cacheSalt === "" ? [] : [this.#cacheSalt];
    if (this.#extraKeys === null && rootKeys.length === 0) return null;
    const byBlock = Array.from({ length: hashCount }, (_, block) => {
      const keys = this.#withoutLoraName(this.#extraKeys?.[block] ?? []);
      return extraKeyBytes(block === 0 ? [...keys, ...rootKeys] : keys);
    });
    return byBlock.some((bytes) => bytes !== null) ? byBlock : null;
  }

  /** Engines repeat the adapter's name among the keys of every block. */
  #withoutLoraName(keys: readonly ExtraKey[]): readonly ExtraKey[] {
    const position = this.#loraName === "" ? -1 : keys.indexOf(this.#loraName);
    return position < 0 ? keys : keys.toSpliced(position, 1);
  }

  /** Text is a name, a map is metadata, and other things say nothing about the namespace. */
  #readLoraName(reader: MessagePackReader): void {
    this.#loraName = "";
    switch (reader.peek()) {
      case KIND.TEXT:
        this.#loraName = this.#readable(readString(reader), "");
        break;
      case KIND.MAP: {
        const salt = this.#readable(readSaltMetadata(reader), "");
        if (salt !== "") this.#cacheSalt = salt;
        break;
      }
      default:
        reader.skip();
    }
  }

  /** `value`, or `instead` for null, which stands for what could not be read. */
  #readable<T>(value: T | null, instead: T): T {
    if (value === null) this.#isReadable = false;
    return value ?? instead;
  }
}

/**
 * The extra keys of an event's blocks, one list per block: `[nil, ["tenant-a"], [["image-1", -4], bin]]`. A key is text, an
 * identifier with an offset, a digest; anything else is kept as its MessagePack bytes, so that no two keys become equal.
 */

import type { ExtraKey } from "#domain";
import { MessagePackReader } from "../msgpack/reader.ts";
import { copyValue, readBytes, readSafeInteger, readString } from "../msgpack/values.ts";

/** By block: its keys in the engine's order, null for a block without. */
export type ExtraKeyLists = readonly (readonly ExtraKey[] | null)[];

/** Passes one value. Null when no block has a key, whatever the number of blocks; "unreadable" for another shape. */
export function readExtraKeys(reader: MessagePackReader): ExtraKeyLists | null | "unreadable" {
  const count = reader.readArrayHeader();
  if (count < 0) {
    reader.skip();
    return "unreadable";
  }
  let lists: (readonly ExtraKey[] | null)[] | null = null;
  for (let block = 0; block < count; block++) {
    if (reader.readNil()) continue;
    const keyCount = reader.readArrayHeader();
    if (keyCount < 0) {
      reader.skipMany(count - block);
      return "unreadable";
    }
    if (keyCount === 0) continue;
    lists ??= new Array<null>(count).fill(null);
    lists[block] = Array.from({ length: keyCount }, () => readExtraKey(reader));
  }
  return lists;
}

function readExtraKey(reader: MessagePackReader): ExtraKey {
  const packed = copyValue(reader);
  const text = readString(readerOn(packed));
  if (text !== null) return text;
  const digest = readBytes(readerOn(packed));
  if (digest !== null) return { digest };
  return readItem(readerOn(packed)) ?? { packed };
}

function readItem(reader: MessagePackReader): ExtraKey | null {
  if (reader.readArrayHeader() !== 2) return null;
  const identifier = readString(reader);
  const offset = readSafeInteger(reader);
  return identifier === null || offset === null ? null : { identifier, offset };
}

function readerOn(bytes: Uint8Array): MessagePackReader {
  const reader = new MessagePackReader();
  reader.reset(bytes);
  return reader;
}

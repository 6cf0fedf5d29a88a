/** MessagePack bodies: one map with the fields of the JSON object, token_ids an array or a bin of u32 little-endian; or several. */

import { decode } from "@msgpack/msgpack";
import { excerpt } from "../problem.ts";
import { copyTokens, TOKEN_BYTES } from "./binary.ts";
import { addEntry, type Expected, type ObjectForm, type ReadObject, readMember, type Span } from "./decoded-body.ts";
import { MessagePackCursor, malformedMessagePack } from "./message-pack-cursor.ts";
import { invalidToken, notRequests, notTokens, TOKEN_MAX, tooManyTokens } from "./token-problems.ts";

const FIXINT_MAX = 0x7f;
const FLOAT32 = 0xca;
const FLOAT64 = 0xcb;
const UINT8 = 0xcc;
const UINT16 = 0xcd;
const UINT32 = 0xce;
const INT64 = 0xd3;

/** Bytes of the longest token that the fast path reads. */
const UINT32_VALUE_BYTES = 5;

export const messagePackForm: ObjectForm = {
  readBody(body, tokens, expected) {
    const cursor = new MessagePackCursor(body);
    const object = readMap(cursor, tokens, expected);
    if (cursor.offset < body.length) throw malformedMessagePack(cursor.offset, "the end of the body is needed after the map");
    return object;
  },
  readEntry: (body, start, tokens) => readMap(new MessagePackCursor(body, start), tokens, "prompt"),
};

function readMap(cursor: MessagePackCursor, tokens: Uint32Array, expected: Expected): ReadObject {
  const mapStart = cursor.offset;
  const { kind, values } = cursor.readHeader();
  if (kind !== "map") {
    throw malformedMessagePack(mapStart, `found ${kind === "array" ? "an array" : "a single value"}, a map is needed`);
  }
  const object: ReadObject = { tokenCount: null, entries: null, fields: new Map() };
  const reader = {
    readTokens: () => readTokens(cursor, tokens),
    readEntries: () => readEntries(cursor),
    readValue: () => readValue(cursor),
  };
  const names = new Set<string>();
  for (let entries = values / 2; entries > 0; entries--) {
    const start = cursor.offset;
    const name = readValue(cursor);
    if (typeof name !== "string") throw malformedMessagePack(start, `found the key ${excerpt(name)}, a string is needed`);
    if (names.has(name)) {
      throw malformedMessagePack(start, `found the field ${excerpt(name)} again, each field may be there once`);
    }
    names.add(name);
    readMember(object, name, expected, reader);
  }
  return object;
}

function readEntries(cursor: MessagePackCursor): Span[] {
  const listStart = cursor.offset;
  const { kind, values } = cursor.readHeader();
  if (kind !== "array") {
    cursor.offset = listStart;
    throw notRequests(excerpt(readValue(cursor)), listStart);
  }
  const entries: Span[] = [];
  for (let entry = 0; entry < values; entry++) {
    const start = cursor.offset;
    cursor.skipValue();
    addEntry(entries, { start, end: cursor.offset });
  }
  return entries;
}

function readTokens(cursor: MessagePackCursor, tokens: Uint32Array): number {
  const start = cursor.offset;
  const { kind, payloadBytes, values } = cursor.readHeader();
  switch (kind) {
    case "array":
      if (values > tokens.length) throw tooManyTokens(values, tokens.length);
      readTokenArray(cursor, tokens, values);
      return values;
    case "binary": {
      if (payloadBytes % TOKEN_BYTES !== 0) throw notTokens(`a bin of ${payloadBytes} bytes`, "a multiple of 4", start);
      const payload = cursor.bytes.subarray(cursor.offset, cursor.offset + payloadBytes);
      cursor.offset += payloadBytes;
      return copyTokens(payload, tokens);
    }
    case "map":
    case "scalar":
      cursor.offset = start;
      throw notTokens(excerpt(readValue(cursor)), "an array of integers or a bin of u32 little-endian", start);
  }
}

function readTokenArray(cursor: MessagePackCursor, tokens: Uint32Array, count: number): void {
  const { bytes, view } = cursor;
  const fastEnd = bytes.length - UINT32_VALUE_BYTES;
  for (let index = 0; index < count; index++) {
    const { offset } = cursor;
    const head = bytes[offset];
    if (offset <= fastEnd && head <= FIXINT_MAX) {
      tokens[index] = head;
      cursor.offset = offset + 1;
    } else if (offset <= fastEnd && head === UINT16) {
      tokens[index] = view.getUint16(offset + 1);
      cursor.offset = offset + 3;
    } else if (offset <= fastEnd && head === UINT32) {
      tokens[index] = view.getUint32(offset + 1);
      cursor.offset = offset + UINT32_VALUE_BYTES;
    } else {
      tokens[index] = readUncommonToken(cursor, index);
    }
  }
}

/** A token in any of the integer formats, at the end of the body too; 422 when the value is not a token. */
function readUncommonToken(cursor: MessagePackCursor, index: number): number {
  const start = cursor.offset;
  const value = readValue(cursor);
  const head = cursor.bytes[start];
  const isInteger = head <= FIXINT_MAX || (head >= UINT8 && head <= INT64);
  if (isInteger && typeof value === "number" && value >= 0 && value <= TOKEN_MAX) return value;
  const isFloat = head === FLOAT32 || head === FLOAT64;
  throw invalidToken(index, isFloat ? `float ${value}` : excerpt(value), start);
}

function readValue(cursor: MessagePackCursor): unknown {
  const start = cursor.offset;
  cursor.skipValue();
  try {
    return decode(cursor.bytes.subarray(start, cursor.offset));
  } catch (cause) {
    throw malformedMessagePack(start, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** JSON bodies: one object, its token_ids written straight into token memory, every other field a JavaScript value; or several. */

import { excerpt, excerptText } from "../problem.ts";
import {
  addEntry,
  type DecodedBatch,
  type DecodedBody,
  promptOf,
  promptsOf,
  type ReadObject,
  type Span,
} from "./decoded-body.ts";
import { JsonCursor, malformedJson } from "./json-cursor.ts";
import { scanTokenArray } from "./token-array.ts";
import { notRequests, notTokens } from "./token-problems.ts";

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Decodes `body` and writes its tokens into `tokens`. Throws a problem at the first mistake: 400 when the body is not one JSON
 * object or names a field twice, 413 when it has more than `tokens.length` tokens, 422 when token_ids is missing or not a list of
 * tokens.
 */
export function decodeJsonBody(body: Uint8Array, tokens: Uint32Array): DecodedBody {
  return promptOf(readBody(body, tokens, "prompt"));
}

/** The same, or a batch where the object has `requests`: whose text is JSON by then, with entries that are still to be read. */
export function decodeJsonBodies(body: Uint8Array, tokens: Uint32Array): DecodedBody | DecodedBatch {
  const object = readBody(body, tokens, "prompt-or-batch");
  return promptsOf(object, ({ start, end }, entryTokens) => {
    const cursor = new JsonCursor(body.subarray(0, end), start);
    return promptOf(readObject(cursor, entryTokens, "prompt"));
  });
}

type Expected = "prompt" | "prompt-or-batch";

function readBody(body: Uint8Array, tokens: Uint32Array, expected: Expected): ReadObject {
  // A byte order mark says nothing about UTF-8 and carries no content; RFC 8259 lets a parser ignore it.
  const hasMark = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte);
  const cursor = new JsonCursor(body, hasMark ? BYTE_ORDER_MARK.length : 0);
  const object = readObject(cursor, tokens, expected);
  if (cursor.peek() !== -1) cursor.fail("the end of the body is needed after the object");
  return object;
}

function readObject(cursor: JsonCursor, tokens: Uint32Array, expected: Expected): ReadObject {
  if (cursor.peek() !== OPEN_BRACE) cursor.fail("an object is needed");
  const object: ReadObject = { tokenCount: null, entries: null, fields: new Map() };
  const names = new Set<string>();
  cursor.walkObject((name, nameOffset) => {
    if (names.has(name)) {
      throw malformedJson(nameOffset, `found the field ${excerpt(name)} again, each field may be there once`);
    }
    names.add(name);
    if (name === "token_ids") object.tokenCount = readTokens(cursor, tokens);
    else if (name === "requests" && expected === "prompt-or-batch") object.entries = readEntries(cursor);
    else object.fields.set(name, readValue(cursor));
  });
  return object;
}

function readEntries(cursor: JsonCursor): Span[] {
  if (cursor.peek() !== OPEN_BRACKET) {
    const start = cursor.offset;
    cursor.skipValue();
    throw notRequests(excerptText(cursor.textFrom(start)), start);
  }
  const entries: Span[] = [];
  cursor.walkArray(() => {
    cursor.peek();
    const start = cursor.offset;
    cursor.skipValue();
    addEntry(entries, { start, end: cursor.offset });
  });
  return entries;
}

function readTokens(cursor: JsonCursor, tokens: Uint32Array): number {
  if (cursor.peek() === OPEN_BRACKET) return scanTokenArray(cursor, tokens);
  const start = cursor.offset;
  cursor.skipValue();
  throw notTokens(excerptText(cursor.textFrom(start)), "an array of integers", start);
}

function readValue(cursor: JsonCursor): unknown {
  cursor.peek();
  const start = cursor.offset;
  cursor.skipValue();
  return JSON.parse(cursor.textFrom(start));
}

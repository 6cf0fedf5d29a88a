/** JSON bodies: one object, its token_ids written straight into token memory, every other field a JavaScript value; or several. */

import { excerptText } from "../problem.ts";
import { addEntry, type Expected, type ObjectForm, type ReadObject, readMember, type Span } from "./decoded-body.ts";
import { JsonCursor } from "./json-cursor.ts";
import { scanTokenArray } from "./token-array.ts";
import { notRequests, notTokens } from "./token-problems.ts";

const OPEN_BRACKET = 0x5b;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export const jsonForm: ObjectForm = {
  readBody(body, tokens, expected) {
    // A byte order mark says nothing about UTF-8 and carries no content; RFC 8259 lets a parser ignore it.
    const hasMark = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte);
    const cursor = new JsonCursor(body, hasMark ? BYTE_ORDER_MARK.length : 0);
    const object = readObject(cursor, tokens, expected);
    cursor.takeEnd();
    return object;
  },
  readEntry: (body, start, tokens) => readObject(new JsonCursor(body, start), tokens, "prompt"),
};

function readObject(cursor: JsonCursor, tokens: Uint32Array, expected: Expected): ReadObject {
  const object: ReadObject = { tokenCount: null, entries: null, fields: new Map() };
  const reader = {
    readTokens: () => readTokens(cursor, tokens),
    readEntries: () => readEntries(cursor),
    readValue: () => cursor.takeValue(),
  };
  cursor.takeObject((name) => readMember(object, name, expected, reader));
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

/** JSON bodies: one object, its token_ids written straight into token memory, every other field a JavaScript value. */

import { excerpt, excerptText } from "../problem.ts";
import type { DecodedBody } from "./decoded-body.ts";
import { JsonCursor, malformedJson } from "./json-cursor.ts";
import { scanTokenArray } from "./token-array.ts";
import { missingTokens, notTokens } from "./token-problems.ts";

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Decodes `body` and writes its tokens into `tokens`. Throws a problem at the first mistake: 400 when the body is not one JSON
 * object or names a field twice, 413 when it has more than `tokens.length` tokens, 422 when token_ids is missing or not a list of
 * tokens.
 */
export function decodeJsonBody(body: Uint8Array, tokens: Uint32Array): DecodedBody {
  // A byte order mark says nothing about UTF-8 and carries no content; RFC 8259 lets a parser ignore it.
  const hasMark = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte);
  const cursor = new JsonCursor(body, hasMark ? BYTE_ORDER_MARK.length : 0);
  if (cursor.peek() !== OPEN_BRACE) cursor.fail("an object is needed");
  const fields = new Map<string, unknown>();
  let tokenCount: number | null = null;
  cursor.walkObject((name, nameOffset) => {
    if (fields.has(name) || (name === "token_ids" && tokenCount !== null)) {
      throw malformedJson(nameOffset, `found the field ${excerpt(name)} again, each field may be there once`);
    }
    if (name === "token_ids") tokenCount = readTokens(cursor, tokens);
    else fields.set(name, readValue(cursor));
  });
  if (cursor.peek() !== -1) cursor.fail("the end of the body is needed after the object");
  if (tokenCount === null) throw missingTokens();
  return { tokenCount, fields: Object.fromEntries(fields) };
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

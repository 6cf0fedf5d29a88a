/**
 * The hot loop of JSON bodies: `[1, 2, 3]` from bytes straight into token memory. It handles well-formed tokens only; whatever
 * else it meets goes to the strict cursor, which names the mistake.
 */

import { excerptText } from "../problem.ts";
import type { JsonCursor } from "./json-cursor.ts";
import { invalidToken, TOKEN_MAX, tooManyTokens } from "./token-problems.ts";

const SPACE = 0x20;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const CLOSE_BRACKET = 0x5d;

/** Any number of so many digits fits in 31 bits, so that the loop stays in integer arithmetic. */
const SAFE_DIGITS = 9;

/**
 * Writes the array that begins at the cursor into `tokens`, moves the cursor behind it and returns the count. Throws a problem:
 * 400 when the text is not JSON, 413 when `tokens` is full, 422 when an element is not a token.
 */
export function scanTokenArray(cursor: JsonCursor, tokens: Uint32Array): number {
  cursor.offset++;
  if (cursor.peek() === CLOSE_BRACKET) {
    cursor.offset++;
    return 0;
  }
  const { bytes } = cursor;
  const limit = tokens.length;
  let offset = cursor.offset;
  for (let count = 0; ; offset++) {
    // Encoders write "," or ", ", so one space is worth a test of its own.
    if (bytes[offset] === SPACE) offset++;
    // `byte ^ ZERO` is the digit; it is above 9 for any other byte, and for undefined beyond the end.
    if ((bytes[offset] ^ ZERO) > 9) offset = findToken(cursor, offset, count);
    const start = offset;
    let token = bytes[offset] ^ ZERO;
    for (let digit = bytes[++offset] ^ ZERO; digit < 10; digit = bytes[++offset] ^ ZERO) token = (token * 10 + digit) | 0;
    if (offset - start > SAFE_DIGITS || (bytes[start] === ZERO && offset - start > 1)) {
      token = readUnsafeToken(cursor, start, offset, count);
    }
    const separator = bytes[offset] === COMMA ? offset : findSeparator(cursor, start, offset, count);
    if (count === limit) throw tooManyTokens(null, limit);
    tokens[count++] = token;
    offset = separator;
    if (bytes[offset] === CLOSE_BRACKET) {
      cursor.offset = offset + 1;
      return count;
    }
  }
}

/** Where the digits of a token begin after any whitespace. */
function findToken(cursor: JsonCursor, offset: number, index: number): number {
  cursor.offset = offset;
  const first = cursor.peek();
  return first >= ZERO && first <= NINE ? cursor.offset : refuseElement(cursor, cursor.offset, index);
}

/** Where the comma or bracket after a token is, whose digits are [start, end). */
function findSeparator(cursor: JsonCursor, start: number, end: number, index: number): number {
  cursor.offset = end;
  const separator = cursor.peek();
  return separator === COMMA || separator === CLOSE_BRACKET ? cursor.offset : refuseElement(cursor, start, index);
}

/** The token whose digits are [start, end): too many to be sure that they fit, or with a zero before them. */
function readUnsafeToken(cursor: JsonCursor, start: number, end: number, index: number): number {
  cursor.offset = end;
  const token = Number(cursor.textFrom(start));
  return token <= TOKEN_MAX && cursor.bytes[start] !== ZERO ? token : refuseElement(cursor, start, index);
}

/** Throws what is wrong with the element at `start`: that it is not JSON, else that it is not a token. */
function refuseElement(cursor: JsonCursor, start: number, index: number): never {
  cursor.offset = start;
  cursor.skipValue();
  const found = excerptText(cursor.textFrom(start));
  const separator = cursor.peek();
  if (separator !== COMMA && separator !== CLOSE_BRACKET) cursor.fail('"," or "]" is needed');
  throw invalidToken(index, found, start);
}

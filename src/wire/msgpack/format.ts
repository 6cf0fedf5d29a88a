/**
 * The first byte of a MessagePack value, as tables: what the value is and how far its fixed part reaches. Source: the
 * MessagePack specification, "Formats".
 */

import { readBigEndian } from "../big-endian.ts";

/** What a value is; numbers, because the tables and the reader's loops compare them per byte. */
export const KIND = {
  INVALID: 0, // 0xc1, or no byte left
  NIL: 1,
  BOOLEAN: 2,
  INTEGER: 3,
  FLOAT: 4,
  TEXT: 5,
  BINARY: 6,
  ARRAY: 7,
  MAP: 8,
  EXTENSION: 9,
} as const;

export type Kind = (typeof KIND)[keyof typeof KIND];

/** By first byte: the value's kind. */
export const KIND_OF = new Uint8Array(256);

/**
 * By first byte: bytes from it to the end of the value when that is known from the first byte alone (numbers, short text),
 * else to where a container's elements or the counted bytes of text, binary and extensions begin. 0 for the invalid byte.
 */
export const FIXED_BYTES_OF = new Uint8Array(256);

/** By first byte: width of the big-endian length that follows it: 0, 1, 2 or 4. */
export const LENGTH_BYTES_OF = new Uint8Array(256);

function define(first: number, kind: Kind, fixedBytes: number, lengthBytes = 0): void {
  KIND_OF[first] = kind;
  FIXED_BYTES_OF[first] = fixedBytes;
  LENGTH_BYTES_OF[first] = lengthBytes;
}

for (let first = 0x00; first <= 0x7f; first++) define(first, KIND.INTEGER, 1);
for (let first = 0x80; first <= 0x8f; first++) define(first, KIND.MAP, 1);
for (let first = 0x90; first <= 0x9f; first++) define(first, KIND.ARRAY, 1);
for (let first = 0xa0; first <= 0xbf; first++) define(first, KIND.TEXT, 1 + (first & 0x1f));
for (let first = 0xe0; first <= 0xff; first++) define(first, KIND.INTEGER, 1);
define(0xc0, KIND.NIL, 1);
define(0xc2, KIND.BOOLEAN, 1);
define(0xc3, KIND.BOOLEAN, 1);
define(0xca, KIND.FLOAT, 5);
define(0xcb, KIND.FLOAT, 9);
for (const [step, width] of [1, 2, 4, 8].entries()) {
  define(0xcc + step, KIND.INTEGER, 1 + width);
  define(0xd0 + step, KIND.INTEGER, 1 + width);
}
for (const [step, width] of [1, 2, 4].entries()) {
  define(0xc4 + step, KIND.BINARY, 1 + width, width);
  define(0xc7 + step, KIND.EXTENSION, 2 + width, width); // length, then a type byte
  define(0xd9 + step, KIND.TEXT, 1 + width, width);
}
for (const [step, width] of [1, 2, 4, 8, 16].entries()) define(0xd4 + step, KIND.EXTENSION, 2 + width);
for (const [step, width] of [2, 4].entries()) {
  define(0xdc + step, KIND.ARRAY, 1 + width, width);
  define(0xde + step, KIND.MAP, 1 + width, width);
}

/**
 * Of the value at `offset`: the elements of an array, the pairs of a map, or the counted bytes beyond the fixed part of text,
 * binary and extensions. 0 when it has none of these or its length is cut off.
 */
export function lengthAt(bytes: Uint8Array, offset: number): number {
  if (offset >= bytes.length) return 0;
  const first = bytes[offset];
  const lengthBytes = LENGTH_BYTES_OF[first];
  if (lengthBytes === 0) return first >= 0x80 && first <= 0x9f ? first & 0x0f : 0;
  return offset + lengthBytes < bytes.length ? readBigEndian(bytes, offset + 1, lengthBytes) : 0;
}

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isEndMarker, readFrameNumber, writeFrameNumber } from "../../src/wire/frame-number.ts";

const ENDS = [0, 1, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER];

describe("readFrameNumber", () => {
  test("readFrameNumber reads what writeFrameNumber writes, at any offset", () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...ENDS), fc.maxSafeNat()), fc.nat(20), (value, offset) => {
        const bytes = new Uint8Array(offset + 8);
        bytes.set(writeFrameNumber(value), offset);
        expect(readFrameNumber(bytes, offset)).toBe(value);
        expect(new DataView(bytes.buffer).getBigUint64(offset)).toBe(BigInt(value));
        expect(isEndMarker(bytes, offset)).toBe(false);
      }),
    );
  });

  test("readFrameNumber refuses numbers from 2^53 on", () => {
    expect(readFrameNumber(Uint8Array.fromHex("0020000000000000"), 0)).toBeNull();
    expect(readFrameNumber(Uint8Array.fromHex("ffffffffffffffff"), 0)).toBeNull();
    expect(readFrameNumber(Uint8Array.fromHex("001fffffffffffff"), 0)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("isEndMarker is true of eight bytes ff only", () => {
    expect(isEndMarker(Uint8Array.fromHex("ffffffffffffffff"), 0)).toBe(true);
    expect(isEndMarker(Uint8Array.fromHex("fffffffffffffffe"), 0)).toBe(false);
    expect(isEndMarker(Uint8Array.fromHex("7fffffffffffffff"), 0)).toBe(false);
  });
});

import { describe, expect, test } from "bun:test";
import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { MessagePackWriter, type Packable } from "../../../src/wire/msgpack/writer.ts";

function write(value: Packable): Uint8Array {
  const writer = new MessagePackWriter();
  writer.write(value);
  return writer.take();
}

describe("MessagePackWriter", () => {
  test("MessagePackWriter writes any value as the library does", () => {
    const anyValue = fc.letrec<{ value: Packable }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.integer(),
        fc.double({ noInteger: true }),
        fc.string({ maxLength: 300, unit: "grapheme" }),
        fc.uint8Array({ maxLength: 300 }),
        fc.array(tie("value"), { maxLength: 20 }),
      ),
    })).value;
    fc.assert(fc.property(anyValue, (value) => expect(write(value)).toEqual(encode(value))));
  });

  test.each([0, 15, 16, 31, 32, 255, 256, 65_535, 65_536])(
    "MessagePackWriter writes lengths of %d as the library does",
    (length) => {
      for (const value of ["x".repeat(length), new Uint8Array(length), new Array<null>(length).fill(null)]) {
        expect(Bun.hash(write(value))).toBe(Bun.hash(encode(value)));
      }
      const entries = Array.from({ length }, (_, index) => [`${index}`, index] as const);
      expect(write(new Map(entries)).length).toBe(encode(Object.fromEntries(entries)).length);
    },
  );

  test("MessagePackWriter writes integers in the fewest bytes, as bigint too", () => {
    const edges = [0n, 5n, 7n, 8n, 15n, 16n, 31n, 32n].flatMap((bits) => [
      2n ** bits - 1n,
      2n ** bits,
      -(2n ** bits),
      -(2n ** bits) - 1n,
    ]);
    for (const edge of edges) expect(write(edge)).toEqual(encode(Number(edge)));
    for (const wide of [2n ** 32n, 2n ** 64n - 1n, -(2n ** 31n) - 1n, -(2n ** 63n)]) {
      expect(write(wide)).toHaveLength(9);
      expect(decode(write(wide), { useBigInt64: true })).toBe(wide);
    }
  });

  test.each([2n ** 64n, -(2n ** 63n) - 1n, 1e300])("MessagePackWriter refuses integer %s", (value) => {
    expect(() => write(value)).toThrow(/^Cannot write integer: -?\d+, (less than 2\^64|at least -2\^63) is needed$/);
  });

  test("MessagePackWriter writes whole floats as floats, and packed bytes as they are", () => {
    expect(write({ float: 2 }).toHex()).toBe("cb4000000000000000");
    expect(write([{ packed: Uint8Array.of(0xcd, 0, 1) }]).toHex()).toBe("91cd0001");
  });

  test("MessagePackWriter keeps the order of a map", () => {
    const entries = new Map<string, Packable>([
      ["b", 1],
      ["a", null],
    ]);
    expect(write(entries)).toEqual(encode({ b: 1, a: null }));
  });
});

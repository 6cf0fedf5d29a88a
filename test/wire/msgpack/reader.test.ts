import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { KIND } from "../../../src/wire/msgpack/format.ts";
import { MessagePackReader } from "../../../src/wire/msgpack/reader.ts";

/** Any value that MessagePack can hold, nested. */
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.double(),
    fc.string({ maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 20 }),
  ),
})).value;

const pack = (value: unknown) => encode(value, { useBigInt64: true });

function readerOf(bytes: Uint8Array): MessagePackReader {
  const reader = new MessagePackReader();
  reader.reset(bytes);
  return reader;
}

const hex = (text: string) => Uint8Array.fromHex(text.replaceAll(" ", ""));
const u64 = (reader: MessagePackReader) => (BigInt(reader.high) << 32n) | BigInt(reader.low);

describe("MessagePackReader", () => {
  test("MessagePackReader skips exactly one value of any kind", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = pack(value);
        const reader = readerOf(new Uint8Array([...bytes, 0xc0]));
        reader.skip();
        expect(reader.isBroken).toBe(false);
        expect(reader.remainingBytes).toBe(1);
      }),
    );
  });

  test("MessagePackReader breaks on every truncation of any value", () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), (value, cut) => {
        const bytes = pack(value);
        const reader = readerOf(bytes.subarray(0, cut % bytes.length));
        reader.skip();
        expect(reader.isBroken).toBe(true);
        expect(reader.remainingBytes).toBe(0);
      }),
    );
  });

  test("MessagePackReader reads integers of every width as two's-complement u64", () => {
    const cases: [string, bigint][] = [
      ["00", 0n],
      ["7f", 127n],
      ["cc ff", 255n],
      ["cd 0102", 0x0102n],
      ["ce ffffffff", 0xffff_ffffn],
      ["cf 0102030405060708", 0x0102_0304_0506_0708n],
      ["ff", -1n],
      ["e0", -32n],
      ["d0 80", -128n],
      ["d0 7f", 127n],
      ["d1 8000", -32_768n],
      ["d2 80000000", -(2n ** 31n)],
      ["d2 7fffffff", 2n ** 31n - 1n],
      ["d3 8000000000000000", -(2n ** 63n)],
      ["d3 ffffffffffffffff", -1n],
    ];
    for (const [bytes, value] of cases) {
      const reader = readerOf(hex(bytes));
      expect(reader.readInteger()).toBe(true);
      expect(u64(reader)).toBe(BigInt.asUintN(64, value));
      expect(reader.remainingBytes).toBe(0);
    }
  });

  test("MessagePackReader reads any 64-bit integer that an encoder writes", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), (value) => {
        const reader = readerOf(pack(value));
        expect(reader.readInteger()).toBe(true);
        expect(u64(reader)).toBe(BigInt.asUintN(64, value));
      }),
    );
  });

  test("MessagePackReader reads arrays of u32 in bulk", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(300), fc.nat(70_000), fc.integer({ min: 0, max: 2 ** 32 - 1 }))), (values) => {
        const reader = readerOf(pack(values));
        const lane = new Uint32Array(values.length);
        expect(reader.readArrayHeader()).toBe(values.length);
        expect(reader.readUint32s(lane, values.length)).toBe(true);
        expect([...lane]).toEqual(values);
        expect(reader.remainingBytes).toBe(0);
      }),
    );
  });

  test("MessagePackReader reads u32 values in wider and signed encodings", () => {
    const reader = readerOf(hex("96 cf00000000ffffffff d00a d10102 d201020304 d30000000080000000 cc05"));
    const lane = new Uint32Array(6);
    expect(reader.readArrayHeader()).toBe(6);
    expect(reader.readUint32s(lane, 6)).toBe(true);
    expect([...lane]).toEqual([0xffff_ffff, 10, 0x0102, 0x0102_0304, 0x8000_0000, 5]);
  });

  test.each([
    ["text", "x"],
    ["a fraction", 1.5],
    ["nil", null],
    ["a negative", -1],
    ["2^32", 2 ** 32],
    ["an array", [1, 2]],
  ])("MessagePackReader refuses %s among tokens and stands behind the array", (_name, odd) => {
    const reader = readerOf(pack([[1, 2, odd, 4, [5]], 77]));
    reader.readArrayHeader();
    const count = reader.readArrayHeader();
    expect(reader.readUint32s(new Uint32Array(count), count)).toBe(false);
    expect(reader.isBroken).toBe(false);
    expect(reader.readUint32()).toBe(77);
  });

  test("MessagePackReader stays in place when the next value has another type", () => {
    const reader = readerOf(pack("gpu"));
    expect(reader.readNil()).toBe(false);
    expect(reader.readInteger()).toBe(false);
    expect(reader.readUint32()).toBe(-1);
    expect(reader.readBinary()).toBe(false);
    expect(reader.readArrayHeader()).toBe(-1);
    expect(reader.readMapHeader()).toBe(-1);
    expect(reader.peek()).toBe(KIND.TEXT);
    expect(reader.readText()).toBe(true);
    expect(new TextDecoder().decode(reader.bytes.subarray(reader.rawStart, reader.rawEnd))).toBe("gpu");
  });

  test("MessagePackReader finds text and binary of every length width", () => {
    for (const length of [0, 1, 31, 32, 255, 256, 65_535, 65_536]) {
      const text = readerOf(pack("a".repeat(length)));
      expect(text.readText()).toBe(true);
      expect(text.rawEnd - text.rawStart).toBe(length);
      expect(text.remainingBytes).toBe(0);
      const binary = readerOf(pack(new Uint8Array(length)));
      expect(binary.readBinary()).toBe(true);
      expect(binary.rawEnd - binary.rawStart).toBe(length);
      expect(binary.remainingBytes).toBe(0);
    }
  });

  test.each(["dc ffff", "dd ffffffff 0101", "de 0002 010101", "df ffffffff", "94 010203", "82 010101"])(
    "MessagePackReader refuses container %s that declares more than there is",
    (bytes) => {
      const reader = readerOf(hex(bytes));
      expect(Math.max(reader.readArrayHeader(), reader.readMapHeader())).toBe(-1);
      expect(reader.isBroken).toBe(true);
    },
  );

  test.each(["c6 ffffffff 00", "db ffffffff", "a5 6162", "c9 ffffffff 01", "c1", "dd 80000000 ffffffff", "d8 01"])(
    "MessagePackReader breaks on skipping %s",
    (bytes) => {
      const reader = readerOf(hex(bytes));
      reader.skip();
      expect(reader.isBroken).toBe(true);
    },
  );

  test("MessagePackReader skips extensions of every width", () => {
    for (const bytes of [
      "d4 01 00",
      "d5 01 0000",
      "d8 01 00112233445566778899aabbccddeeff",
      "c7 03 01 000102",
      "c8 0001 01 00",
    ]) {
      const reader = readerOf(hex(bytes));
      reader.skip();
      expect([reader.isBroken, reader.remainingBytes]).toEqual([false, 0]);
    }
  });

  test("MessagePackReader skips a million nested arrays without a stack", () => {
    const bytes = new Uint8Array(1_000_001).fill(0x91);
    bytes[1_000_000] = 0xc0;
    const reader = readerOf(bytes);
    reader.skip();
    expect([reader.isBroken, reader.remainingBytes]).toEqual([false, 0]);
  });

  test("MessagePackReader is whole again after a reset", () => {
    const reader = readerOf(hex("c1"));
    reader.skip();
    reader.reset(pack(5));
    expect(reader.readUint32()).toBe(5);
    expect(reader.isBroken).toBe(false);
  });
});

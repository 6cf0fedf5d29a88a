import { describe, expect, test } from "bun:test";
import { ALL_DIALECTS, decodeEvents } from "./decode.ts";

const EMPTY_TUPLE_HASH = 5740354900026072187n;
const digest = Uint8Array.fromHex("ffffffff0102030405060708");
const removed = (...hashes: unknown[]) => ["BlockRemoved", hashes];

describe.each(ALL_DIALECTS)("$engine's dialect", ({ engine, dialect }) => {
  const decode = (...events: unknown[]) => decodeEvents(dialect, ...events);

  test("Dialect knows a block by integers of every width and sign, digests and hex digits alike", () => {
    const hash = 0x0102_0304_0506_0708n;
    const same = [
      hash,
      digest,
      digest.subarray(4),
      digest.toHex(),
      "0102030405060708",
      "0x102030405060708",
      "0X0102030405060708",
    ];
    expect(decode(removed(...same))).toEqual([{ removed: same.map(() => hash), tier: "device" }]);
    const negative = BigInt.asUintN(64, -2n);
    expect(decode(removed(-2, -2n, negative, negative.toString(16), "0xFFFFFFFFFFFFFFFE"))).toEqual([
      { removed: [negative, negative, negative, negative, negative], tier: "device" },
    ]);
    expect(decode(removed(0, 127, 128, 65_536, "0x1f"))).toEqual([{ removed: [0n, 127n, 128n, 65_536n, 31n], tier: "device" }]);
  });

  test.each([
    ["a short digest", digest.subarray(5)],
    ["digits that may be decimal", "3236607068019"],
    ["hex digits that end in another letter", "010203040506070g"],
    ["hex digits that begin with another letter", "g0102030405060708"],
    ["a prefix without digits", "0x"],
    ["no digits", ""],
    ["a fraction", 1.5],
    ["nil", null],
    ["a list", [1]],
  ])("Dialect takes %s for no hash, and reads on behind it", (_name, odd) => {
    expect(decode(removed(1, odd, 2), ["AllBlocksCleared"])).toEqual([{ skipped: "malformed-removal" }, "cleared"]);
  });

  test("Dialect takes the first tokens of pairs", () => {
    const pairs = [
      [1, 2],
      [2, 3],
      [70_000, 4],
      [4, null],
    ];
    expect(decode(["BlockStored", [1n], null, pairs, 4])).toMatchObject([{ tokens: [1, 2, 70_000, 4] }]);
  });

  test.each([
    ["a triple", [[1, 2, 3]]],
    ["a pair that begins with text", [["1", 2]]],
    ["a token behind pairs", [[1, 2], 2, [2, 3]]],
    ["a pair behind tokens", [1, [1, 2], 2]],
    ["an empty list", [[], [1, 2]]],
  ])("Dialect takes %s for no token, and reads on behind it", (_name, tokens) => {
    const events = decode(["BlockStored", [1n], null, tokens, 1], ["AllBlocksCleared"]);
    expect(events).toEqual([{ skipped: "malformed-event" }, "cleared"]);
  });

  test("Dialect mixes array and map events in one batch", () => {
    const map = { type: "BlockStored", block_hashes: [1n], parent_block_hash: 2n, token_ids: [7], block_size: 1, medium: "CPU" };
    const array = ["BlockStored", [1n], 2n, [7], 1, null, "CPU"];
    const event = { stored: [1n], parent: 2n, tokens: [7], blockSize: 1, tier: "host" as const };
    expect(decode(map, array, map)).toEqual([event, event, event]);
  });

  test("Dialect delivers an offload placeholder, and a parent of 0 as it stands", () => {
    expect(decode(["BlockStored", [1n], null, [], 0, null, "CPU"], ["BlockStored", [1n], 0, [7], 1])).toEqual([
      { stored: [1n], parent: null, tokens: [], blockSize: 0, tier: "host" },
      { stored: [1n], parent: 0n, tokens: [7], blockSize: 1, tier: "device" },
    ]);
  });

  test("Dialect takes the hash of the empty tuple for no parent where SGLang sends it", () => {
    const parent = engine === "sglang" ? null : EMPTY_TUPLE_HASH;
    expect(decode(["BlockStored", [1n], EMPTY_TUPLE_HASH, [7], 1])).toMatchObject([{ parent }]);
    expect(decode(["BlockStored", [1n], EMPTY_TUPLE_HASH + 1n, [7], 1])).toMatchObject([{ parent: EMPTY_TUPLE_HASH + 1n }]);
    expect(decode(["BlockStored", [1n], EMPTY_TUPLE_HASH + 2n ** 32n, [7], 1])).toMatchObject([
      { parent: EMPTY_TUPLE_HASH + 2n ** 32n },
    ]);
    expect(decode(removed(EMPTY_TUPLE_HASH))).toEqual([{ removed: [EMPTY_TUPLE_HASH], tier: "device" }]);
  });
});

import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { XllmDialect } from "#wire";
import { CollectingSink } from "./collecting-sink.ts";

const tokens = Array.from({ length: 32 }, (_, index) => index * 9001);
const events = [
  {
    type: "BlockStored",
    block_hashes: [1n, -2n, new Uint8Array(32)],
    parent_block_hash: 2n ** 63n,
    token_ids: tokens,
    block_size: 16,
    medium: "gpu",
  },
  ["BlockStored", [3n], null, tokens, 16, null, "CPU", null, [null], 0, "full_attention", null],
  ["BlockRemoved", [1n], "gpu"],
  { type: "AllBlocksCleared" },
];
const GOOD = encode([1.5, events, 0], { useBigInt64: true });

const decode = (dialect: XllmDialect, payload: Uint8Array) => {
  const sink = new CollectingSink();
  return { ...dialect.decode(payload, sink), events: sink.events };
};
const EXPECTED = decode(new XllmDialect(), GOOD);

/** Decodes `payload`, whatever it is, and then proves that the decoder still works. */
function survive(dialect: XllmDialect, payload: Uint8Array) {
  const result = decode(dialect, payload);
  dialect.holdsFullState(payload);
  expect(decode(dialect, GOOD)).toEqual(EXPECTED);
  return result;
}

describe("XllmDialect on broken bytes", () => {
  const dialect = new XllmDialect();

  test("XllmDialect decodes the whole batch that the other cases break", () => {
    expect(EXPECTED.problem).toBeNull();
    expect(EXPECTED.events).toHaveLength(4);
    expect(EXPECTED.events.some((event) => typeof event === "object" && "skipped" in event)).toBe(false);
  });

  test("XllmDialect calls every truncation of a batch malformed", () => {
    for (let length = 0; length < GOOD.length; length++) {
      const { problem, events: delivered } = survive(dialect, GOOD.subarray(0, length));
      expect(problem).toBe("malformed");
      expect(delivered).toEqual(EXPECTED.events.slice(0, delivered.length)); // never an event made of half its bytes
    }
  });

  test("XllmDialect survives every flipped bit of a batch", () => {
    for (let bit = 0; bit < 8 * GOOD.length; bit++) {
      const flipped = GOOD.slice();
      flipped[bit >> 3] ^= 1 << (bit & 7);
      const { events: delivered } = survive(dialect, flipped);
      expect(delivered.length).toBeLessThanOrEqual(GOOD.length);
    }
  });

  test("XllmDialect survives any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        survive(dialect, bytes);
      }),
    );
  });

  test("XllmDialect survives any MessagePack in place of an event, and applies the events around it", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: false, withNullPrototype: false, maxDepth: 3 }), (odd) => {
        const payload = encode([0, [["AllBlocksCleared"], JSON.parse(JSON.stringify(odd ?? null)), ["AllBlocksCleared"]], 0]);
        const { problem, events: delivered } = survive(dialect, payload);
        expect(problem).toBeNull();
        expect([delivered.length, delivered[0], delivered[2]]).toEqual([3, "cleared", "cleared"]);
      }),
    );
  });
});

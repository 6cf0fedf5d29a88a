import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import type { BlockRemoved, BlockStored, KvEventSink, SkipReason } from "#domain";
import { type Dialect, decodeEventBatch, MalformedBatchError } from "#wire";
import { PUBLISHED_VECTORS } from "../codec/plain-batch.ts";
import { ALL_DIALECTS, decodePayload } from "./decode.ts";

const tokens = Array.from({ length: 32 }, (_, index) => index * 9001);
const events = [
  {
    type: "BlockStored",
    block_hashes: [1n, -2n, new Uint8Array(32), "00ff00ff00ff00ff"],
    parent_block_hash: 2n ** 63n,
    token_ids: [...tokens, ...tokens],
    block_size: 16,
    medium: "gpu",
    group_idx: 0,
    kv_cache_spec_kind: "full_attention",
  },
  ["BlockStored", [3n], null, tokens.slice(0, 16), 16, null, "CPU", null, [null], 0, "full_attention", null],
  ["BlockRemoved", [1n], "gpu"],
  { type: "AllBlocksCleared" },
];
const GOOD = encode([1.5, events, 0], { useBigInt64: true });
const PAYLOADS = [GOOD, ...PUBLISHED_VECTORS.map(({ payload }) => payload)];

/** Room that a decoder has from the start, and per byte of its largest payload. */
const FIRST_ELEMENTS = 32_768;
const ELEMENTS_PER_BYTE = 4;

/** Counts events, checks that each has what it claims, and remembers how large the lanes are. */
class CheckingSink implements KvEventSink {
  eventCount = 0;
  laneElements = 0;

  blockStored(event: BlockStored): void {
    const keyedBlocks = event.namespace?.extraKeys?.length ?? event.hashCount;
    this.#check(event.hashCount * 2 <= event.hashLanes.length && event.tokenCount <= event.tokens.length);
    if (keyedBlocks !== event.hashCount) throw new Error("extra keys are not one per block");
    this.laneElements = Math.max(event.hashLanes.length, event.tokens.length);
  }

  blockRemoved(event: BlockRemoved): void {
    this.#check(event.hashCount * 2 <= event.hashLanes.length);
  }

  allBlocksCleared(): void {
    this.#check(true);
  }

  eventSkipped(_reason: SkipReason): void {
    this.#check(true);
  }

  #check(holds: boolean): void {
    if (!holds) throw new Error("an event claims more than its lanes hold");
    this.eventCount += 1;
  }
}

/** Decodes `payload`, whatever it is; throws when it gives more than it can hold, or the decoder does not work afterwards. */
function survive(dialect: Dialect, payload: Uint8Array): void {
  const broken = new CheckingSink();
  dialect.decode(payload, broken);
  dialect.holdsFullState(payload);
  const after = new CheckingSink();
  const { problem } = dialect.decode(GOOD, after);
  const isSound = problem === null && after.eventCount === events.length && broken.eventCount <= payload.length;
  const laneLimit = Math.max(FIRST_ELEMENTS, ELEMENTS_PER_BYTE * Math.max(payload.length, GOOD.length));
  if (!isSound || after.laneElements > laneLimit) throw new Error(`Cannot survive payload ${payload.toHex()}`);
}

describe.each(ALL_DIALECTS)("$engine's dialect on broken bytes", ({ dialect }) => {
  const expected = decodePayload(dialect, GOOD);

  test("Dialect decodes the whole batch that the other cases break", () => {
    expect(expected.problem).toBeNull();
    expect(expected.events).toHaveLength(events.length);
    expect(expected.events.some((event) => typeof event === "object" && "skipped" in event)).toBe(false);
  });

  test("Dialect calls every truncation of a batch malformed, and makes no event of half its bytes", () => {
    for (let length = 0; length < GOOD.length; length++) {
      const { problem, events: delivered } = decodePayload(dialect, GOOD.subarray(0, length));
      expect(problem).toBe("malformed");
      expect(delivered).toEqual(expected.events.slice(0, delivered.length));
    }
    for (const payload of PAYLOADS) {
      for (let length = 0; length < payload.length; length++) survive(dialect, payload.subarray(0, length));
    }
    expect(decodePayload(dialect, GOOD)).toEqual(expected);
  });

  test("Dialect survives every flipped bit of every shape", () => {
    let cases = 0;
    for (const payload of PAYLOADS) {
      const flipped = payload.slice();
      for (let bit = 0; bit < 8 * payload.length; bit++, cases++) {
        flipped[bit >> 3] ^= 1 << (bit & 7);
        survive(dialect, flipped);
        flipped[bit >> 3] ^= 1 << (bit & 7);
      }
    }
    expect(cases).toBeGreaterThan(20_000);
    expect(decodePayload(dialect, GOOD)).toEqual(expected);
  });

  test("Dialect survives any bytes, alone and in place of any part of a batch", () => {
    const bytes = fc.uint8Array({ maxLength: 60 });
    fc.assert(
      fc.property(bytes, fc.nat(PAYLOADS.length - 1), fc.nat(), fc.nat(40), (odd, position, at, replaced) => {
        const payload = PAYLOADS[position];
        const start = at % payload.length;
        survive(dialect, odd);
        survive(dialect, Uint8Array.from([...payload.subarray(0, start), ...odd, ...payload.subarray(start + replaced)]));
      }),
      { numRuns: 20_000 },
    );
  });

  test("Dialect survives any MessagePack in place of an event, and applies the events around it", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: false, withNullPrototype: false, maxDepth: 3 }), (odd) => {
        const payload = encode([0, [["AllBlocksCleared"], JSON.parse(JSON.stringify(odd ?? null)), ["AllBlocksCleared"]], 0]);
        survive(dialect, payload);
        const { problem, events: delivered } = decodePayload(dialect, payload);
        expect(problem).toBeNull();
        expect([delivered.length, delivered[0], delivered[2]]).toEqual([3, "cleared", "cleared"]);
      }),
    );
  });

  test("Dialect makes no room for elements that a header only claims", () => {
    const claim = [0xdd, 0xff, 0xff, 0xff, 0xff];
    for (const field of ["block_hashes", "token_ids", "extra_keys"]) {
      const payload = Uint8Array.from([0x92, 0, 0x91, 0x81, ...encode(field), ...claim, ...GOOD]);
      expect(dialect.decode(payload, new CheckingSink()).problem).toBe("malformed");
      survive(dialect, payload);
    }
  });
});

describe("decodeEventBatch on broken bytes", () => {
  test("decodeEventBatch gives a batch or a MalformedBatchError for every flipped bit and truncation", () => {
    const survives = (payload: Uint8Array) => {
      try {
        return decodeEventBatch(payload).events.length <= payload.length;
      } catch (error) {
        return error instanceof MalformedBatchError;
      }
    };
    for (const payload of PAYLOADS) {
      const flipped = payload.slice();
      for (let bit = 0; bit < 8 * payload.length; bit++) {
        flipped[bit >> 3] ^= 1 << (bit & 7);
        if (!survives(flipped) || !survives(flipped.subarray(0, bit >> 3))) throw new Error(flipped.toHex());
        flipped[bit >> 3] ^= 1 << (bit & 7);
      }
    }
  });
});

import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import {
  decodeEventBatch,
  EVENT_SHAPES,
  type EventBatch,
  type EventDetails,
  type EventShape,
  encodeEventBatch,
  type KvCacheEvent,
  MalformedBatchError,
} from "#wire";

const hash = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const token = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const extraKey = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.record({ identifier: fc.string(), offset: fc.maxSafeInteger() }),
  fc.record({ digest: fc.uint8Array() }),
  fc.constant({ packed: encode([1, { a: null }, "x"]) }),
);
const keyLists = fc
  .array(fc.option(fc.array(extraKey, { minLength: 1, maxLength: 4 })), { minLength: 1, maxLength: 4 })
  .filter((lists) => lists.some((keys) => keys !== null));

const details: fc.Arbitrary<EventDetails> = fc.record(
  {
    loraId: fc.maxSafeInteger(),
    medium: fc.constantFrom("GPU", "CPU", "tape"),
    loraName: fc.string({ unit: "grapheme" }),
    extraKeys: keyLists,
    cacheSalt: fc.string({ minLength: 1 }),
    groupIndex: fc.nat(),
    specKind: fc.string(),
    slidingWindowTokens: fc.nat(),
    locality: fc.constantFrom("LOCAL", "REMOTE"),
    ownership: fc.string(),
    sessionId: fc.string(),
  },
  { requiredKeys: [] },
);

const event: fc.Arbitrary<KvCacheEvent> = fc.oneof(
  fc
    .tuple(
      fc.record({
        type: fc.constant("BlockStored" as const),
        blockHashes: fc.array(hash, { maxLength: 40 }),
        parentBlockHash: fc.option(hash),
        tokenIds: fc.array(token, { maxLength: 40 }),
        blockSize: fc.nat(),
      }),
      details,
    )
    .map(([stored, said]) => ({ ...stored, ...said })),
  fc
    .tuple(fc.record({ type: fc.constant("BlockRemoved" as const), blockHashes: fc.array(hash, { maxLength: 40 }) }), details)
    .map(([removed, said]) => ({ ...removed, ...said })),
  fc.constant({ type: "AllBlocksCleared" as const }),
);

const batch: fc.Arbitrary<EventBatch> = fc.record({
  timestampSeconds: fc.option(fc.double({ noNaN: true })),
  events: fc.array(event, { maxLength: 20 }),
  dataParallelRank: fc.option(token),
});

/** What each shape has a place for, beside hashes, parent, tokens and block size. */
const STORED: Readonly<Record<EventShape, readonly (keyof EventDetails)[]>> = {
  "vllm-1": ["loraId"],
  "vllm-2": ["loraId"],
  "vllm-3": ["loraId", "medium"],
  "vllm-4": ["loraId", "medium", "loraName"],
  "vllm-5": ["loraId", "medium", "loraName", "extraKeys"],
  "vllm-6": ["loraId", "medium", "loraName", "extraKeys", "groupIndex"],
  "vllm-7": ["loraId", "medium", "loraName", "extraKeys", "groupIndex", "specKind", "slidingWindowTokens"],
  "vllm-8": ["loraId", "medium", "loraName", "extraKeys", "groupIndex", "specKind", "slidingWindowTokens"],
  "vllm-8b": ["loraId", "medium", "loraName", "extraKeys", "groupIndex", "specKind", "slidingWindowTokens", "locality"],
  "vllm-9": [
    ...(["loraId", "medium", "loraName", "extraKeys", "groupIndex", "specKind", "slidingWindowTokens"] as const),
    ...(["locality", "ownership", "sessionId"] as const),
  ],
  "sglang-1": ["loraId"],
  "sglang-2": ["loraId"],
  "sglang-3": ["loraId", "medium"],
  "sglang-3b": ["loraId", "medium", "cacheSalt"],
  "sglang-4": ["loraId", "medium", "cacheSalt", "sessionId"],
};
const REMOVED_ALSO: readonly (keyof EventDetails)[] = ["medium", "groupIndex", "locality", "ownership"];

/** `batch` without what `shape` has no place for. */
function carried(whole: EventBatch, shape: EventShape): EventBatch {
  const dataParallelRank = shape === "vllm-1" || shape === "sglang-1" ? null : whole.dataParallelRank;
  return { ...whole, dataParallelRank, events: whole.events.map((one) => carriedEvent(one, STORED[shape])) };
}

function carriedEvent(one: KvCacheEvent, kept: readonly (keyof EventDetails)[]): KvCacheEvent {
  switch (one.type) {
    case "BlockStored": {
      const { type, blockHashes, parentBlockHash, tokenIds, blockSize } = one;
      return { type, blockHashes, parentBlockHash, tokenIds, blockSize, ...pick(one, kept) };
    }
    case "BlockRemoved": {
      const also = kept.filter((property) => REMOVED_ALSO.includes(property));
      return { type: one.type, blockHashes: one.blockHashes, ...pick(one, also) };
    }
    case "AllBlocksCleared":
      return one;
  }
}

function pick(from: EventDetails, properties: readonly (keyof EventDetails)[]): EventDetails {
  return Object.fromEntries(properties.filter((property) => property in from).map((property) => [property, from[property]]));
}

describe("encodeEventBatch and decodeEventBatch", () => {
  test.each(EVENT_SHAPES)("decodeEventBatch gives back any batch that encodeEventBatch wrote as %s", (shape) => {
    const engine = shape.startsWith("sglang") ? "sglang" : "vllm";
    fc.assert(
      fc.property(batch, (whole) => {
        const { skipped, trailingBytes, ...decoded } = decodeEventBatch(encodeEventBatch(whole, shape), { engine });
        expect({ skipped, trailingBytes }).toEqual({ skipped: [], trailingBytes: 0 });
        expect(decoded).toEqual(carried(whole, shape));
      }),
      { numRuns: 60 },
    );
  });

  test("encodeEventBatch writes vLLM's newest shape unless told", () => {
    const cleared: EventBatch = { timestampSeconds: 1, events: [{ type: "AllBlocksCleared" }], dataParallelRank: null };
    expect(encodeEventBatch(cleared)).toEqual(encodeEventBatch(cleared, "vllm-9"));
  });

  test("encodeEventBatch refuses an integer that has no 64 bits", () => {
    const events: KvCacheEvent[] = [{ type: "BlockRemoved", blockHashes: [], groupIndex: 1e300 }];
    expect(() => encodeEventBatch({ timestampSeconds: 0, events, dataParallelRank: 0 })).toThrow(RangeError);
  });
});

describe("decodeEventBatch", () => {
  const digest = Uint8Array.fromHex("00010203040506070809101112131415");
  const digestEvent = ["BlockStored", [digest, digest.toHex()], digest, [7, 8], 1];

  test.each([
    ["last8", 0x0809_1011_1213_1415n],
    ["first8", 0x0001_0203_0405_0607n],
  ] as const)("decodeEventBatch keeps the %s of a digest, also of one in hex digits", (byteHashFolding, folded) => {
    const { events } = decodeEventBatch(encode([0, [digestEvent]]), { byteHashFolding });
    expect(events).toMatchObject([{ blockHashes: [folded, folded], parentBlockHash: folded }]);
  });

  test("decodeEventBatch takes the last 8 bytes unless told", () => {
    expect(decodeEventBatch(encode([0, [digestEvent]]))).toEqual(
      decodeEventBatch(encode([0, [digestEvent]]), { byteHashFolding: "last8" }),
    );
  });

  test("decodeEventBatch leaves out what it cannot read, says why, and keeps the rest", () => {
    const odd = [["BlockTransferred", []], ["BlockRemoved", [1.5]], { type: "BlockRemoved", block_hashes: [1], medium: 7 }, 12];
    const payload = encode([0, [...odd, ["AllBlocksCleared"]], 3]);
    expect(decodeEventBatch(new Uint8Array([...payload, 0, 0]))).toEqual({
      timestampSeconds: 0,
      events: [{ type: "AllBlocksCleared" }],
      dataParallelRank: 3,
      skipped: ["unknown-event", "malformed-event", "malformed-event", "malformed-event"],
      trailingBytes: 2,
    });
  });

  test.each([
    ["float32", Uint8Array.fromHex("92ca3fc0000090"), 1.5],
    ["an integer", encode([-7, []]), -7],
    ["true", encode([true, []]), null],
    ["nil", encode([null, []]), null],
  ])("decodeEventBatch reads a timestamp that is %s", (_name, payload, timestampSeconds) => {
    expect(decodeEventBatch(payload)).toMatchObject({ timestampSeconds, events: [] });
  });

  test.each([
    ["nothing", new Uint8Array()],
    ["text", encode("KVEventBatch")],
    ["a batch cut short", encode([0, [["BlockRemoved", [1, 2, 3]]]]).subarray(0, -1)],
  ])("decodeEventBatch refuses %s", (_name, payload) => {
    expect(() => decodeEventBatch(payload)).toThrow(MalformedBatchError);
  });
});

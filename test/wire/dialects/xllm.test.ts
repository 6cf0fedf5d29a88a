import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { XllmDialect } from "#wire";
import { CollectingSink } from "./collecting-sink.ts";
import { VECTORS } from "./vectors.ts";

const pack = (value: unknown) => encode(value, { useBigInt64: true });

function decode(payload: Uint8Array, dialect = new XllmDialect()) {
  const sink = new CollectingSink();
  const outcome = { ...dialect.decode(payload, sink) };
  return { ...outcome, events: sink.events };
}

const decodeEvents = (...events: unknown[]) => decode(pack([1.5, events, 0])).events;

const storedMap = { type: "BlockStored", block_hashes: [1n], parent_block_hash: null, token_ids: [7, 8], block_size: 2 };
const storedEvent = { stored: [1n], parent: null, tokens: [7, 8], blockSize: 2, tier: "device" as const };

describe("XllmDialect", () => {
  test.each(VECTORS)("XllmDialect decodes published bytes: $name", ({ payload, rank, events }) => {
    expect(decode(Uint8Array.fromHex(payload))).toEqual({ problem: null, rank, trailingBytes: 0, events });
  });

  test("XllmDialect decodes any store in either form to the same event", () => {
    const hash = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });
    const token = fc.oneof(fc.nat(127), fc.nat(65_535), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
    const dialect = new XllmDialect();
    fc.assert(
      fc.property(
        fc.array(hash),
        fc.option(hash),
        fc.array(token),
        fc.nat(4096),
        fc.boolean(),
        (hashes, parent, tokens, blockSize, onHost) => {
          const medium = onHost ? "cpu" : null;
          const map = {
            medium,
            token_ids: tokens,
            unknown: { nested: [hashes, "x"] },
            block_size: blockSize,
            parent_block_hash: parent,
            block_hashes: hashes,
            type: "BlockStored",
          };
          const list = ["BlockStored", hashes, parent, tokens, blockSize, null, medium, null, null, 0, null, "later field"];
          const expected = {
            stored: hashes.map((value) => BigInt.asUintN(64, value)),
            parent: parent === null ? null : BigInt.asUintN(64, parent),
            tokens,
            blockSize,
            tier: onHost ? ("host" as const) : ("device" as const),
          };
          expect(decode(pack([0, [map, list], 3]), dialect)).toEqual({
            problem: null,
            rank: 3,
            trailingBytes: 0,
            events: [expected, expected],
          });
        },
      ),
    );
  });

  test("XllmDialect decodes a store larger than any before it", () => {
    const tokens = Array.from({ length: 100_000 }, (_, index) => index);
    const hashes = Array.from({ length: 6250 }, (_, index) => BigInt(index));
    const dialect = new XllmDialect();
    const large = { type: "BlockStored", block_hashes: hashes, parent_block_hash: 9n, token_ids: tokens, block_size: 16 };
    const removed = { type: "BlockRemoved", block_hashes: hashes };
    expect(decode(pack([0, [large, removed, storedMap]]), dialect).events).toEqual([
      { stored: hashes, parent: 9n, tokens, blockSize: 16, tier: "device" },
      { removed: hashes, tier: "device" },
      storedEvent,
    ]);
  });

  test("XllmDialect takes the last 8 bytes of a digest as the hash, big-endian", () => {
    const digest = Uint8Array.fromHex("ffffffff0102030405060708");
    const event = { ...storedMap, block_hashes: [digest, digest.subarray(4)], parent_block_hash: digest };
    expect(decodeEvents(event)).toEqual([
      { ...storedEvent, stored: [0x0102_0304_0506_0708n, 0x0102_0304_0506_0708n], parent: 0x0102_0304_0506_0708n },
    ]);
    expect(decodeEvents({ ...storedMap, block_hashes: [digest.subarray(5)] })).toEqual([{ skipped: "malformed-event" }]);
  });

  test("XllmDialect knows media by any case, and nil as the device", () => {
    const media = ["gpu", "GPU", "Cpu", "disk", "STORAGE", null];
    const events = decodeEvents(...media.map((medium) => ["BlockRemoved", [5n], medium]));
    const tiers = ["device", "device", "host", "disk", "disk", "device"] as const;
    expect(events).toEqual(tiers.map((tier) => ({ removed: [5n], tier })));
  });

  test("XllmDialect decodes an offload placeholder without tokens", () => {
    const event = { ...storedMap, token_ids: [], block_size: 0, medium: "cpu" };
    expect(decodeEvents(event)).toEqual([{ ...storedEvent, tokens: [], blockSize: 0, tier: "host" }]);
  });

  test.each([
    ["an unknown medium", { ...storedMap, medium: "tape" }, "unknown-medium"],
    ["an unknown medium of a removal", ["BlockRemoved", [1n], "tape"], "unknown-medium"],
    ["an unknown tag", { type: "BlockTransferred", block_hashes: "?" }, "unknown-event"],
    ["an unknown array tag", ["BlockTransferred", [1], { a: 1 }], "unknown-event"],
    ["a LoRA name", { ...storedMap, lora_name: "adapter-a" }, "unknown-event"],
    ["a LoRA name by position", ["BlockStored", [1n], null, [7, 8], 2, null, "gpu", "adapter-a"], "unknown-event"],
    ["a LoRA id", ["BlockStored", [1n], null, [7, 8], 2, 7], "unknown-event"],
    ["a cache salt", { ...storedMap, cache_salt: "tenant-a" }, "unknown-event"],
    [
      "metadata in place of a LoRA name",
      ["BlockStored", [1n], null, [7, 8], 2, null, "gpu", { cache_salt: "t" }],
      "unknown-event",
    ],
    ["extra keys", { ...storedMap, extra_keys: [null, ["image", 0]] }, "unknown-event"],
    ["extra keys of another shape", { ...storedMap, extra_keys: ["image", null] }, "unknown-event"],
    ["a later cache group", { ...storedMap, group_idx: 1 }, "sparse-group"],
    ["a removal from a later cache group", ["BlockRemoved", [1n], "gpu", 1], "sparse-group"],
    ["sliding-window attention", { ...storedMap, group_idx: 0, kv_cache_spec_kind: "sliding_window" }, "sparse-group"],
    ["no tag", { block_hashes: [1n] }, "malformed-event"],
    ["a tag that is no text", [7, [1n]], "malformed-event"],
    ["an empty array", [], "malformed-event"],
    ["a number", 12, "malformed-event"],
    ["no hashes", { ...storedMap, block_hashes: null }, "malformed-event"],
    ["a hash that is text", { ...storedMap, block_hashes: [1n, "2", 3n] }, "malformed-event"],
    ["a hash that is a fraction", { ...storedMap, block_hashes: [1.5] }, "malformed-event"],
    ["a parent that is text", { ...storedMap, parent_block_hash: "1" }, "malformed-event"],
    ["no parent field", { ...storedMap, parent_block_hash: undefined, parent: null }, "malformed-event"],
    ["a token of 2^32", { ...storedMap, token_ids: [7, 2 ** 32] }, "malformed-event"],
    ["a negative token", { ...storedMap, token_ids: [-7, 8] }, "malformed-event"],
    ["tokens that are triples", { ...storedMap, token_ids: [[7, 8, 9]] }, "malformed-event"],
    ["tokens that are no array", { ...storedMap, token_ids: 7 }, "malformed-event"],
    ["a negative block size", { ...storedMap, block_size: -2 }, "malformed-event"],
    ["a medium that is a number", { ...storedMap, medium: 1 }, "malformed-event"],
    ["too short an array", ["BlockStored", [1n], null], "malformed-event"],
    ["a removal without hashes", ["BlockRemoved"], "malformed-removal"],
  ] as const)("XllmDialect skips an event with %s and applies the rest", (_name, event, reason) => {
    const batch = [0, [storedMap, event, ["AllBlocksCleared"], storedMap], 0];
    const payload = encode(batch, { useBigInt64: true, ignoreUndefined: true });
    expect(decode(payload)).toEqual({
      problem: null,
      rank: 0,
      trailingBytes: 0,
      events: [storedEvent, { skipped: reason }, "cleared", storedEvent],
    });
  });

  test("XllmDialect counts full-attention groups of any index, and plain events that spell their defaults out", () => {
    const plain = { lora_id: null, lora_name: "", cache_salt: null, extra_keys: [null, []] };
    expect(decodeEvents({ ...storedMap, ...plain, group_idx: 2, kv_cache_spec_kind: "mla_attention" })).toEqual([storedEvent]);
  });

  test.each([
    ["two elements", [1.5, [storedMap]], null],
    ["nil rank", [1.5, [storedMap], null], null],
    ["more elements", [1, [storedMap], 4, "later", { a: [1] }], 4],
    ["a tag in front", ["KVEventBatch", 1.5, [storedMap], 4], 4],
    ["a map in any order", { data_parallel_rank: 4, later: [1], events: [storedMap], ts: 1.5 }, 4],
    ["a map without rank", { 7: 1, events: [storedMap] }, null],
  ])("XllmDialect decodes a batch with %s", (_name, batch, rank) => {
    expect(decode(pack(batch))).toEqual({ problem: null, rank, trailingBytes: 0, events: [storedEvent] });
  });

  test.each([
    ["nothing", []],
    ["one element", [1.5]],
    ["no events", { ts: 1.5 }],
    ["events that are no array", [1.5, { a: 1 }, 0]],
    ["a rank that is text", [1.5, [], "0"]],
    ["a negative rank", [1.5, [], -1]],
    ["a number", 5],
    ["text", "KVEventBatch"],
  ])("XllmDialect calls a batch of %s malformed", (_name, batch) => {
    expect(decode(pack(batch)).problem).toBe("malformed");
  });

  test("XllmDialect ignores and counts bytes behind the batch", () => {
    const payload = new Uint8Array([...pack([0, [storedMap], 0]), 0xc1, 0xc1]);
    expect(decode(payload)).toEqual({ problem: null, rank: 0, trailingBytes: 2, events: [storedEvent] });
  });

  test("XllmDialect reads a payload in shared memory", () => {
    const payload = pack([0, [storedMap], 0]);
    const shared = new Uint8Array(new SharedArrayBuffer(payload.length + 10), 10);
    shared.set(payload);
    expect(decode(shared).events).toEqual([storedEvent]);
  });

  test.each([
    ["clear, store", [["AllBlocksCleared"], storedMap], true],
    ["store, clear, store", [storedMap, { type: "AllBlocksCleared" }, ["BlockStored"]], true],
    ["store, clear", [storedMap, ["AllBlocksCleared"]], false],
    ["clear alone", [["AllBlocksCleared"]], false],
    ["clear, removal", [["AllBlocksCleared"], ["BlockRemoved", [1n]]], false],
    ["store alone", [storedMap], false],
  ])("XllmDialect tells whether a batch is a full state: %s", (_name, events, isFull) => {
    expect(new XllmDialect().holdsFullState(pack([0, events, 0]))).toBe(isFull);
  });

  test("XllmDialect sees no full state in a malformed batch", () => {
    const payload = pack([0, [["AllBlocksCleared"], storedMap], 0]);
    expect(new XllmDialect().holdsFullState(payload.subarray(0, -1))).toBe(false);
  });
});

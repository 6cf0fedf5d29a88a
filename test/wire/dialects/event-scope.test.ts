import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import type { Tier } from "#domain";
import { AttentionGroups } from "#wire";
import { CollectingSink } from "./collecting-sink.ts";
import { ALL_DIALECTS, decodeEvents } from "./decode.ts";

const stored = { type: "BlockStored", block_hashes: [1n], parent_block_hash: null, token_ids: [7, 8], block_size: 2 };
const storedEvent = { stored: [1n], parent: null, tokens: [7, 8], blockSize: 2, tier: "device" as const };
const sparse = { skipped: "sparse-group" } as const;
const notOwned = { skipped: "not-owned" } as const;

describe.each(ALL_DIALECTS)("$engine's dialect", ({ dialect }) => {
  const decode = (...events: unknown[]) => decodeEvents(dialect, ...events);

  test.each([
    ["no group", {}],
    ["group 0", { group_idx: 0 }],
    ["full attention in a later group", { group_idx: 3, kv_cache_spec_kind: "full_attention" }],
    ["latent attention", { group_idx: 1, kv_cache_spec_kind: "mla_attention" }],
    ["attention sinks", { kv_cache_spec_kind: "sink_full_attention" }],
    ["no kind, spelt out", { group_idx: null, kv_cache_spec_kind: null, kv_cache_spec_sliding_window: null }],
  ])("Dialect delivers stores of %s", (_name, group) => {
    expect(decode({ ...stored, ...group })).toEqual([storedEvent]);
  });

  test.each([
    ["a later group", { group_idx: 1 }],
    ["sliding windows", { group_idx: 0, kv_cache_spec_kind: "sliding_window", kv_cache_spec_sliding_window: 128 }],
    ["a state-space model", { kv_cache_spec_kind: "mamba" }],
    ["a kind that does not exist yet", { kv_cache_spec_kind: "fractal_attention" }],
    ["a kind that is no text", { kv_cache_spec_kind: 1 }],
    ["a group that is no index", { group_idx: "0" }],
  ])("Dialect skips stores and removals of %s, whatever else is odd about them", (_name, group) => {
    const odd = { block_hashes: ["?"], token_ids: null, block_size: -1, medium: "tape", ownership: "kvcr", extra_keys: 7 };
    expect(decode({ ...stored, ...group }, { ...stored, ...odd, ...group })).toEqual([sparse, sparse]);
    const removed = { type: "BlockRemoved", block_hashes: [1n] };
    expect(decode({ ...removed, ...group }, { ...removed, ...odd, ...group })).toEqual([sparse, sparse]);
  });

  test("Dialect knows the group by position", () => {
    const events = [
      ["BlockStored", [1n], null, [7, 8], 2, null, "GPU", null, [null], 1],
      ["BlockStored", [1n], null, [7, 8], 2, null, "GPU", null, [null], 1, "full_attention", null],
      ["BlockStored", [], null, [7, 8], 2, null, "GPU", null, [], 0, "sliding_window", 128],
      ["BlockRemoved", [1n], "GPU", 0],
      ["BlockRemoved", [1n], "GPU", 1],
    ];
    expect(decode(...events)).toEqual([sparse, storedEvent, sparse, sparse, { removed: [1n], tier: "device" }]);
  });

  test("Dialect remembers a group's kind for the batches after", () => {
    const groups = new AttentionGroups();
    const removal = ["BlockRemoved", [1n], "GPU", 1];
    const decodeNext = (event: unknown) => {
      const sink = new CollectingSink();
      dialect.decode(encode([1.5, [event], 0], { useBigInt64: true }), sink, groups);
      return sink.events;
    };
    expect(decodeNext(removal)).toEqual([sparse]);
    decodeNext({ ...stored, group_idx: 1, kv_cache_spec_kind: "full_attention" });
    expect(decodeNext(removal)).toEqual([{ removed: [1n], tier: "device" }]);
    decodeNext({ ...stored, group_idx: 1, kv_cache_spec_kind: "mamba" });
    expect(decodeNext(removal)).toEqual([sparse]);
  });

  test.each([
    ["remote locality", { locality: "REMOTE" }],
    ["a locality that is no text", { locality: 1 }],
    ["an owner", { medium: "STORAGE", locality: "LOCAL", ownership: "kvcr" }],
    ["an owner that is no text", { ownership: 1 }],
    ["an external medium", { medium: "EXTERNAL" }],
    ["a remote medium", { medium: "remote" }],
  ])("Dialect skips events of blocks with %s, which are not the engine's own", (_name, place) => {
    const odd = { ...stored, ...place, block_hashes: ["?"] };
    expect(decode({ ...stored, ...place }, odd)).toEqual([notOwned, notOwned]);
    expect(decode({ type: "BlockRemoved", block_hashes: [1n], ...place })).toEqual([notOwned]);
  });

  test("Dialect delivers blocks whose local keeping is spelt out", () => {
    expect(decode({ ...stored, locality: "LOCAL", ownership: null, session_id: "s" })).toEqual([storedEvent]);
    expect(decode({ ...stored, locality: "", ownership: "" })).toEqual([storedEvent]);
  });

  test("Dialect knows media by any case, and nil and nothing as the device", () => {
    const media: Record<Tier, (string | null)[]> = {
      device: ["GPU", "gpu", "HBM", "", null],
      host: ["CPU", "cpu", "CPU_PINNED", "CPU_TIER1", "cpu_tier2", "cpu:0", "cuda", "CUDA:0"],
      disk: ["DISK", "STORAGE", "FS", "obj", "Shared_Storage"],
    };
    for (const [tier, names] of Object.entries(media)) {
      const events = decode(...names.map((medium) => ["BlockRemoved", [5n], medium]));
      expect(events).toEqual(names.map(() => ({ removed: [5n], tier: tier as Tier })));
    }
    const cutShort = ["BlockStored", [1n], null, [7, 8], 2, null, "cp", "u".charCodeAt(0)]; // the next byte is a "u"
    expect(decode(cutShort)).toEqual([{ skipped: "unknown-medium" }]);
    const unknown = ["tape", "cp", "gpu ", "FSX"].map((medium) => ({ ...stored, medium }));
    expect(decode(...unknown)).toEqual(unknown.map(() => ({ skipped: "unknown-medium" })));
  });
});

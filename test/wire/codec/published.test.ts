import { describe, expect, test } from "bun:test";
import { decodeEventBatch, type EventShape, encodeEventBatch } from "#wire";
import { PUBLISHED_VECTORS } from "./plain-batch.ts";

/**
 * By vector: the shape that writes exactly its bytes. The others hold what no shape writes: digests, pairs, signed hashes of
 * vLLM, and lists of nothing for extra keys.
 */
const SHAPES: Readonly<Record<string, EventShape>> = {
  "V1 vllm 0.9.0 stored": "vllm-1",
  "V1 vllm 0.9.0 cleared": "vllm-1",
  "V3 vllm 0.10.2-0.12 stored+removed": "vllm-3",
  "V4 lora_name": "vllm-4",
  "V5 extra_keys": "vllm-5",
  "V8 placeholder CPU": "vllm-8",
  "V9 vllm main storage": "vllm-9",
  "S1 sglang first": "sglang-1",
  "S2 sglang +attn_dp_rank": "sglang-2",
  "S3 sglang medium": "sglang-3",
  "S3b sglang salt metadata": "sglang-3b",
  "S4 sglang map": "sglang-4",
};

describe("decodeEventBatch", () => {
  test.each(PUBLISHED_VECTORS)("decodeEventBatch reads published bytes: $name", ({ payload, batch }) => {
    expect(decodeEventBatch(payload)).toEqual({ ...batch, skipped: [], trailingBytes: 0 });
  });

  test("decodeEventBatch reads an older SGLang's root as one, for that engine", () => {
    const payload = PUBLISHED_VECTORS.find(({ name }) => name.startsWith("S1"))?.payload ?? new Uint8Array();
    expect(decodeEventBatch(payload, { engine: "sglang" }).events).toMatchObject([{ parentBlockHash: null }]);
    expect(decodeEventBatch(payload, { engine: "vllm" }).events).toMatchObject([{ parentBlockHash: 5740354900026072187n }]);
  });
});

describe("encodeEventBatch", () => {
  const written = PUBLISHED_VECTORS.filter(({ name }) => name in SHAPES);

  test.each(written)("encodeEventBatch writes published bytes: $name", ({ name, payload }) => {
    const shape = SHAPES[name];
    const batch = decodeEventBatch(payload, { engine: shape.startsWith("sglang") ? "sglang" : "vllm" });
    expect(encodeEventBatch(batch, shape).toHex()).toBe(payload.toHex());
  });

  test("encodeEventBatch is compared with every shape's published bytes that there are", () => {
    expect(written.map(({ name }) => name).toSorted()).toEqual(Object.keys(SHAPES).toSorted());
  });
});

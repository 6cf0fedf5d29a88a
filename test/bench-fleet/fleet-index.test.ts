import { expect, test } from "bun:test";
import { EngineCache } from "./engine-cache.ts";
import { reusableBlocks } from "./engine-model.ts";
import { FleetIndex } from "./fleet-index.ts";
import { instanceNames } from "./observed-fleet.ts";
import { BLOCK_TOKENS, readTrace } from "./trace.ts";

test("FleetIndex says of every prompt what the instances' caches would find", async () => {
  const trace = await readTrace("conversation", 300);
  const index = await FleetIndex.create(trace.blocks, instanceNames(3));
  // Small enough to push blocks to the host and out of it.
  const caches = [new EngineCache(400, 0), new EngineCache(600, 300), new EngineCache(100_000, 0)];
  let hits = 0;
  let hostHits = 0;
  for (const request of trace.requests) {
    const place = request.id % 3;
    const need = { blocks: request.blocks, ownBlocks: 0, reusableBlocks: request.blocks.length };
    const { tokens, matches } = index.match(request);
    expect(tokens).toHaveLength(request.inputTokens);
    const admission = caches[place].admit(need);
    caches[place].release(need);
    const { deviceHitBlocks, hostOnlyHitBlocks, unsynchronized } = matches[place];
    expect(unsynchronized).toBeNull();
    expect(deviceHitBlocks + hostOnlyHitBlocks).toBe(admission?.cachedBlocks ?? -1);
    expect(hostOnlyHitBlocks).toBe(admission?.loadedBlocks ?? -1);
    hits += deviceHitBlocks;
    hostHits += hostOnlyHitBlocks;
    index.apply(place, [...(admission?.evictions ?? []), ...(admission?.stored ? [admission.stored] : [])]);
  }
  expect(hits).toBeGreaterThan(100);
  expect(hostHits).toBeGreaterThan(0);
});

test("A prompt of full blocks has one block fewer to reuse than it has", () => {
  const request = { id: 0, arrivalMs: 0, outputTokens: 1, blocks: [], hashIds: [] };
  expect(reusableBlocks({ ...request, inputTokens: 2 * BLOCK_TOKENS })).toBe(1);
  expect(reusableBlocks({ ...request, inputTokens: 2 * BLOCK_TOKENS + 1 })).toBe(2);
  expect(reusableBlocks({ ...request, inputTokens: 1 })).toBe(0);
});

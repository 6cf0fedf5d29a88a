import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type BlockNeed, type CacheChange, EngineCache } from "./engine-cache.ts";

function need(blocks: number[], ownBlocks = 0, reusableBlocks = blocks.length): BlockNeed {
  return { blocks, ownBlocks, reusableBlocks };
}

/** Runs the request to its end; what it found. */
function serve(cache: EngineCache, wanted: BlockNeed) {
  const admission = cache.admit(wanted);
  cache.release(wanted);
  return admission;
}

describe("EngineCache", () => {
  test("A prompt finds the prefix that an earlier one left, but for what must be computed", () => {
    const cache = new EngineCache(10, 0);
    expect(serve(cache, need([1, 2, 3]))).toEqual({
      cachedBlocks: 0,
      loadedBlocks: 0,
      evictions: [],
      stored: { kind: "stored", tier: "device", blocks: [1, 2, 3] },
    });
    expect(serve(cache, need([1, 2, 4]))).toMatchObject({ cachedBlocks: 2, stored: { blocks: [4] } });
    expect(serve(cache, need([1, 2, 3], 0, 2))).toMatchObject({ cachedBlocks: 2, stored: null });
  });

  test("The longest unused blocks make room, leaves before their parents", () => {
    const cache = new EngineCache(4, 0);
    serve(cache, need([1, 2]));
    serve(cache, need([3, 4]));
    expect(serve(cache, need([5]))?.evictions).toEqual([{ kind: "removed", tier: "device", blocks: [2] }]);
    expect(serve(cache, need([6]))?.evictions).toEqual([{ kind: "removed", tier: "device", blocks: [1] }]);
    expect(serve(cache, need([3, 4]))?.cachedBlocks).toBe(2);
  });

  test("What leaves the device is found on the host, until others push it out", () => {
    const cache = new EngineCache(2, 3);
    serve(cache, need([1, 2]));
    expect(serve(cache, need([3, 4]))?.evictions).toEqual([
      { kind: "stored", tier: "host", blocks: [2, 1] },
      { kind: "removed", tier: "device", blocks: [2, 1] },
    ]);
    // The host has [2, 1], both wanted and so used last; [4, 3] come behind them, and the leaf 2 is the one too many.
    const again = serve(cache, need([1, 2]));
    expect(again).toMatchObject({ cachedBlocks: 2, loadedBlocks: 2, stored: { blocks: [1, 2] } });
    expect(again?.evictions.at(-1)).toEqual({ kind: "removed", tier: "host", blocks: [2] });
  });

  test("Blocks that running requests hold never make room: a request waits for them", () => {
    const cache = new EngineCache(4, 0);
    const running = need([1, 2], 1);
    cache.admit(running);
    expect(cache.usage).toBe(0.75);
    expect(cache.admit(need([3, 4]))).toBeNull();
    expect(cache.admit(need([1, 3]))).not.toBeNull();
    cache.release(need([1, 3]));
    cache.release(running);
    expect(cache.usage).toBe(0);
    expect(cache.admit(need([3, 4, 5, 6]))).not.toBeNull();
  });

  test("A request cannot have its own idle blocks pushed out for its others", () => {
    const cache = new EngineCache(3, 0);
    serve(cache, need([1, 2]));
    expect(cache.admit(need([1, 2], 2))).toBeNull();
    expect(cache.admit(need([1, 2], 1))).toMatchObject({ cachedBlocks: 2, evictions: [] });
  });

  test("What it tells of changes is what it holds, within the capacity of both tiers", () => {
    const prompts = fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 4 }), { maxLength: 40 });
    fc.assert(
      fc.property(prompts, (paths) => {
        const cache = new EngineCache(6, 5);
        const told = { device: new Set<number>(), host: new Set<number>() };
        for (const path of paths) {
          // A binary tree: a block's number has a leading 1 and then the path to it.
          const blocks = path.map((_, depth) => Number.parseInt(`1${path.slice(0, depth + 1).join("")}`, 2));
          const firstAbsent = blocks.findIndex((block) => !told.device.has(block) && !told.host.has(block));
          const admission = serve(cache, need(blocks));
          expect(admission?.cachedBlocks).toBe(firstAbsent < 0 ? blocks.length : firstAbsent);
          for (const change of [...(admission?.evictions ?? []), admission?.stored ?? null]) follow(told, change);
          expect(blocks.every((block) => told.device.has(block))).toBe(true);
          expect(told.device.size).toBeLessThanOrEqual(6);
          expect(told.host.size).toBeLessThanOrEqual(5);
        }
      }),
    );
  });
});

function follow(told: Record<CacheChange["tier"], Set<number>>, change: CacheChange | null): void {
  for (const block of change?.blocks ?? []) {
    if (change?.kind === "stored") told[change.tier].add(block);
    else if (change?.kind === "removed") told[change.tier].delete(block);
  }
}

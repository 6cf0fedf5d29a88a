import { describe, expect, test } from "bun:test";
import { TIERS, unsynchronized } from "#domain";
import { clear, hashLanes, range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

const PROMPT = range(1, 3 * BLOCK_SIZE);
const SYNCHRONIZED = { unsynchronized: null, deviceHitBlocks: 0, hostOnlyHitBlocks: 0, diskOnlyHitBlocks: 0 };
const NOTHING_HELD = { deviceBlocks: 0, hostBlocks: 0, diskBlocks: 0 };

describe("KvIndexWriter stores", () => {
  test("KvIndexWriter stores the blocks of one event as one prefix", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    expect(scene.changes(stream, 1, [store([11, 12, 13], PROMPT)])).toBeNull();
    expect(scene.match(stream, PROMPT)).toEqual({
      ...SYNCHRONIZED,
      ...NOTHING_HELD,
      coverage: "full",
      batchSeq: 1,
      deviceHitBlocks: 3,
      deviceBlocks: 3,
    });
  });

  test("KvIndexWriter stores a block behind its parent, and no other way", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), store([12], PROMPT.slice(4, 8), { parent: 11 })]);
    expect(scene.prefixBlocks(stream, PROMPT)).toBe(2);
    expect(scene.prefixBlocks(stream, PROMPT.slice(4))).toBe(0);
  });

  test("KvIndexWriter takes every 64-bit engine hash, 0 and all ones included", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    // The third is the one that the stream's table knows under identity 0.
    const hashes = [0n, 2n ** 64n - 1n, 0x9e3779b97f4a7c15n, 1n << 32n, 1n];
    const tokens = range(1, hashes.length * BLOCK_SIZE);
    scene.changes(stream, 1, [store(hashes, tokens)]);
    expect(scene.match(stream, tokens)).toMatchObject({ deviceHitBlocks: 5, deviceBlocks: 5 });
    scene.changes(stream, 2, [remove([0x9e3779b97f4a7c15n])]);
    expect(scene.match(stream, tokens)).toMatchObject({ deviceHitBlocks: 2, deviceBlocks: 4 });
  });

  test("KvIndexWriter takes events longer than one call into the kernel", async () => {
    const scene = await IndexScene.create({ maxBlocksPerStream: 200_000 });
    const stream = scene.openSynchronized(0, { blockSize: 1 });
    const tokens = range(0, 140_001);
    expect(scene.changes(stream, 1, [store(tokens, tokens), storeKnown(tokens, "host")])).toBeNull();
    expect(scene.match(stream, tokens)).toMatchObject({ deviceHitBlocks: 140_001, hostBlocks: 140_001 });
    expect(scene.changes(stream, 2, [remove(tokens)])).toBeNull();
    expect(scene.match(stream, tokens)).toMatchObject({ hostOnlyHitBlocks: 140_001, deviceBlocks: 0 });
    expect(scene.writer.oddities.unknownRemovals).toBe(0);
  });

  test("KvIndexWriter keeps streams with equal contents apart, whatever their ids and hashes", async () => {
    const scene = await IndexScene.create();
    const streams = [0, 31, 32, 63, 64, 127].map((id) => scene.openSynchronized(id));
    for (const [n, stream] of streams.entries()) {
      const tokens = PROMPT.slice(0, BLOCK_SIZE * (1 + (n % 3)));
      scene.changes(stream, 1, [store(range(100 * n, 1 + (n % 3)), tokens)]);
    }
    expect(streams.map((stream) => scene.prefixBlocks(stream, PROMPT))).toEqual([1, 2, 3, 1, 2, 3]);
    scene.changes(streams[2], 2, [clear]);
    expect(streams.map((stream) => scene.prefixBlocks(stream, PROMPT))).toEqual([1, 2, 0, 1, 2, 3]);
  });

  test("KvIndexWriter adds a tier to known blocks by a store without tokens, and counts unknown ones", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    expect(scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), storeKnown([11, 99], "host")])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1, hostBlocks: 1 });
    expect(scene.writer.oddities.unknownStores).toBe(1);
  });

  test("KvIndexWriter lets the newer content win when an engine hash comes back with another, and counts it", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const other = range(501, BLOCK_SIZE);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), storeKnown([11], "host")]);
    scene.changes(stream, 2, [store([11], other)]);
    expect(scene.prefixBlocks(stream, PROMPT)).toBe(0);
    expect(scene.match(stream, other)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1, hostBlocks: 0 });
    expect(scene.writer.oddities.collisions).toBe(1);
  });

  test("KvIndexWriter counts no collision when a block is stored again", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), store([11], PROMPT.slice(0, 4), { tier: "host" })]);
    expect(scene.writer.oddities.collisions).toBe(0);
  });

  test("KvIndexWriter never reports more than the stream holds when two engine hashes name one content", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), store([21], PROMPT.slice(0, 4))]);
    expect(scene.prefixBlocks(stream, PROMPT)).toBe(1);
    scene.changes(stream, 2, [remove([11])]);
    // One hash still holds the content; the index may have let go of it.
    expect(scene.prefixBlocks(stream, PROMPT)).toBeLessThanOrEqual(1);
    scene.changes(stream, 3, [remove([21])]);
    expect(scene.prefixBlocks(stream, PROMPT)).toBe(0);
  });
});

describe("KvIndexWriter removals", () => {
  test("KvIndexWriter removes a block from one tier and leaves its replicas", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(
      stream,
      1,
      TIERS.map((tier) => store([11], PROMPT.slice(0, 4), { tier })),
    );
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1, hostBlocks: 1, diskBlocks: 1 });
    scene.changes(stream, 2, [remove([11], "device")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 1, deviceBlocks: 0, hostBlocks: 1, diskBlocks: 1 });
    scene.changes(stream, 3, [remove([11], "host")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ diskOnlyHitBlocks: 1, hostBlocks: 0, diskBlocks: 1 });
    scene.changes(stream, 4, [remove([11], "disk")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...SYNCHRONIZED, ...NOTHING_HELD });
  });

  test("KvIndexWriter counts removals of what is not there and applies the rest of the event", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12], PROMPT.slice(0, 8))]);
    expect(scene.changes(stream, 2, [remove([99, 12, 98]), remove([11], "host")])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1 });
    expect(scene.writer.oddities.unknownRemovals).toBe(3);
  });

  test("KvIndexWriter needs one removal for a block that a presence stream stored twice", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0, { counted: false });
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), store([11], PROMPT.slice(0, 4)), remove([11])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...SYNCHRONIZED, ...NOTHING_HELD });
  });

  test("KvIndexWriter needs as many removals as stores on a tier of a counted stream, and never goes below zero", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0, { counted: true });
    const block = PROMPT.slice(0, 4);
    scene.changes(stream, 1, [store([11], block), store([11], block), store([11], block, { tier: "host" }), remove([11])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1, hostBlocks: 1 });
    scene.changes(stream, 2, [remove([11])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 1, deviceBlocks: 0 });
    scene.changes(stream, 3, [remove([11]), store([11], block)]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1 });
    expect(scene.writer.oddities.unknownRemovals).toBe(1);
  });

  test("KvIndexWriter keeps the children of a removed parent: counted, out of reach, back with the parent", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12, 13], PROMPT)]);
    scene.changes(stream, 2, [remove([11])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...SYNCHRONIZED, deviceBlocks: 2 });
    scene.changes(stream, 3, [store([11], PROMPT.slice(0, 4))]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 3, deviceBlocks: 3 });
  });
});

describe("KvIndexWriter refusals", () => {
  test("KvIndexWriter reports a block whose parent was never announced, and leaves the rest of the batch", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const problem = scene.changes(stream, 7, [store([12], PROMPT.slice(4, 8), { parent: 11 }), store([11], PROMPT.slice(0, 4))]);
    expect(problem).toEqual(unsynchronized("unknown-parent", 7));
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: problem, deviceHitBlocks: 0 });
  });

  test("KvIndexWriter reports a block size that is not the stream's", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const problem = scene.changes(stream, 1, [store([11], range(1, 16))]);
    expect(problem).toEqual(unsynchronized("wrong-block-size", 16, BLOCK_SIZE));
    expect(scene.skipped("wrong-block-size")).toBe(1);
  });

  test.each([3, 5, 8])("KvIndexWriter reports %d tokens for one block of four", async (tokenCount) => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const problem = scene.changes(stream, 1, [store([11], range(1, tokenCount), { blockSize: BLOCK_SIZE })]);
    expect(problem).toEqual(unsynchronized("wrong-token-count", tokenCount, 1));
    expect(scene.skipped("wrong-token-count")).toBe(1);
  });

  test("KvIndexWriter skips an event that is its own parent and applies the others", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const ownParent = store([11], PROMPT.slice(0, 4), { parent: 11 });
    expect(scene.changes(stream, 1, [ownParent, store([12], PROMPT.slice(0, 4))])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1 });
    expect(scene.skipped("own-parent")).toBe(1);
  });

  test("KvIndexWriter tells a parent from the block itself by all 64 bits", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const high = (1n << 32n) + 11n;
    expect(
      scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), store([high], PROMPT.slice(4, 8), { parent: 11 })]),
    ).toBeNull();
    expect(scene.prefixBlocks(stream, PROMPT)).toBe(2);
  });

  test("KvIndexWriter counts what the decoder left out; only a malformed event is a problem", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    expect(
      scene.changes(stream, 1, [(sink) => sink.eventSkipped("unknown-event"), (sink) => sink.eventSkipped("unknown-medium")]),
    ).toBeNull();
    expect([scene.skipped("unknown-event"), scene.skipped("unknown-medium")]).toEqual([1, 1]);
    expect(scene.changes(stream, 2, [(sink) => sink.eventSkipped("malformed-event")])).toEqual(
      unsynchronized("event-malformed", 2),
    );
    expect(scene.skipped("malformed-event")).toBe(1);
  });

  test("KvIndexWriter keeps the first problem of a batch and forgets it at the next", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const orphan = store([12], PROMPT.slice(4, 8), { parent: 11 });
    expect(scene.changes(stream, 1, [orphan, store([13], range(1, 5))])).toEqual(unsynchronized("unknown-parent", 1));
    expect(scene.state(stream, 2, [])).toBeNull();
  });

  test("KvIndexWriter does nothing for an event without hashes", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const noHashes = { hashLanes: hashLanes([]), hashCount: 0, tier: "device" } as const;
    expect(scene.changes(stream, 1, [(sink) => sink.blockRemoved(noHashes), storeKnown([], "host")])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...SYNCHRONIZED, ...NOTHING_HELD, batchSeq: 1 });
  });
});

import { describe, expect, test } from "bun:test";
import { extraKeyBytes } from "#domain";
import { range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

/** How often a block can be stored on a tier before stores are no longer told apart. */
const COUNT_MAX = 65_535;

const PROMPT = range(1, 3 * BLOCK_SIZE);
const HASHES = [11, 12, 13];

async function createCounted(): Promise<{ scene: IndexScene; stream: ReturnType<IndexScene["open"]> }> {
  const scene = await IndexScene.create();
  return { scene, stream: scene.openSynchronized(0, { counted: true, strict: false }) };
}

describe("Counted streams", () => {
  test("Counted streams keep what they know of a block when an offload describes it without its extra keys", async () => {
    const { scene, stream } = await createCounted();
    const salted = { root: null, extraKeys: [extraKeyBytes(["salt"]), null, null] };
    scene.changes(stream, 1, [store(HASHES.slice(0, 2), PROMPT.slice(0, 8), { namespace: salted })]);
    scene.changes(stream, 2, [store(HASHES, PROMPT, { tier: "host" })]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 0, hostOnlyHitBlocks: 0, hostBlocks: 3 });
    expect(scene.match(stream, PROMPT, salted)).toMatchObject({ deviceHitBlocks: 2, hostOnlyHitBlocks: 1 });
    expect(scene.writer.oddities.collisions).toBe(0);
  });

  test("Counted streams keep a block that two requests stored until both copies are gone", async () => {
    const { scene, stream } = await createCounted();
    scene.changes(stream, 1, [store(HASHES, PROMPT), store(HASHES.slice(0, 2), PROMPT.slice(0, 8))]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 3, deviceBlocks: 3 });
    scene.changes(stream, 2, [remove([12]), remove([11])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 3, deviceBlocks: 3 });
    scene.changes(stream, 3, [remove([12])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 2 });
  });

  test("Counted streams take one off for each time that a removal lists a block", async () => {
    const { scene, stream } = await createCounted();
    scene.changes(stream, 1, [store(HASHES, PROMPT), store(HASHES, PROMPT), store(HASHES, PROMPT)]);
    scene.changes(stream, 2, [remove([11, 12, 13, 13, 99, 13])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 2, deviceBlocks: 2 });
    scene.changes(stream, 3, [remove([11, 11, 12])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 0, deviceBlocks: 1 });
    expect(scene.writer.oddities.unknownRemovals).toBe(1);
  });

  test("Counted streams count each tier by itself", async () => {
    const { scene, stream } = await createCounted();
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), storeKnown([11], "host"), storeKnown([11], "host")]);
    scene.changes(stream, 2, [remove([11]), remove([11]), remove([11], "host")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 1, deviceBlocks: 0, hostBlocks: 1 });
    scene.changes(stream, 3, [remove([11], "host"), remove([11], "disk")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 0, hostBlocks: 0 });
  });

  test("Counted streams count an offloaded chunk that repeats blocks as often as it lists them", async () => {
    const { scene, stream } = await createCounted();
    // Chunks of two blocks that overlap in block 12, with tokens and without.
    scene.changes(stream, 1, [store(HASHES, PROMPT)]);
    scene.changes(stream, 2, [
      store([11, 12], PROMPT.slice(0, 8), { tier: "host" }),
      store([12, 13], PROMPT.slice(4), { tier: "host", parent: 11 }),
      storeKnown([13, 13, 11], "host"),
    ]);
    scene.changes(stream, 3, [remove(HASHES), remove([11, 12], "host"), remove([13, 13], "host")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 3, deviceBlocks: 0, hostBlocks: 3 });
    scene.changes(stream, 4, [remove(HASHES, "host")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 0, hostBlocks: 0 });
  });

  test("Counted streams never hold a block longer than the engine, when it is stored more often than can be counted", async () => {
    const { scene, stream } = await createCounted();
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4)), storeKnown(Array(COUNT_MAX + 4).fill(11), "device")]);
    scene.changes(stream, 2, [remove(Array(COUNT_MAX - 1).fill(11))]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1 });
    scene.changes(stream, 3, [remove([11])]);
    // The engine has five copies still; less is reported, never more.
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 0, deviceBlocks: 0 });
    scene.changes(stream, 4, [remove(Array(4).fill(11)), store([11], PROMPT.slice(0, 4)), remove([11])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 0, deviceBlocks: 0 });
  });

  test("Counted streams begin to count anew at a state", async () => {
    const { scene, stream } = await createCounted();
    scene.changes(stream, 1, [store(HASHES, PROMPT), store(HASHES, PROMPT)]);
    scene.changes(stream, 2, [(sink) => sink.allBlocksCleared(), store(HASHES, PROMPT)]);
    scene.changes(stream, 3, [remove([12])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 2 });
  });

  test("Counted streams leave a block alone when a sparse group's block of the same hash comes and goes", async () => {
    const { scene, stream } = await createCounted();
    const sparse = (sink: { eventSkipped(reason: "sparse-group"): void }) => sink.eventSkipped("sparse-group");
    expect(scene.changes(stream, 1, [store(HASHES, PROMPT), sparse])).toBeNull();
    expect(scene.changes(stream, 2, [sparse])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 3, deviceBlocks: 3 });
    expect(scene.skipped("sparse-group")).toBe(2);
  });

  test("Counted streams count a block under a namespace as any other", async () => {
    const { scene, stream } = await createCounted();
    const namespace = { root: null, extraKeys: [extraKeyBytes(["salt-1"]), null, null] };
    const salted = store(HASHES, PROMPT, { namespace });
    scene.changes(stream, 1, [salted, salted, remove(HASHES)]);
    expect(scene.prefixBlocks(stream, PROMPT, namespace)).toBe(3);
    scene.changes(stream, 2, [remove(HASHES)]);
    expect(scene.prefixBlocks(stream, PROMPT, namespace)).toBe(0);
    expect(scene.writer.oddities.collisions).toBe(0);
  });
});

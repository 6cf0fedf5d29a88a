import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { clear, range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

const PROMPT = range(1, 3 * BLOCK_SIZE);
const OTHER_PROMPT = range(1001, 3 * BLOCK_SIZE);
const HIDDEN = { deviceHitBlocks: 0, hostOnlyHitBlocks: 0, diskOnlyHitBlocks: 0 };

describe("KvIndexWriter states", () => {
  test("KvIndexWriter replaces everything by a state, in one step", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12], PROMPT.slice(0, 8)), store([21], OTHER_PROMPT.slice(0, 4), { tier: "host" })]);
    const before = scene.match(stream, PROMPT);
    scene.begin(stream, "state", 9, [store([11], PROMPT.slice(0, 4), { tier: "host" }), store([31, 32, 33], OTHER_PROMPT)]);
    expect(scene.match(stream, PROMPT)).toEqual(before);
    scene.writer.commit(9, "full");
    expect(scene.match(stream, PROMPT)).toMatchObject({
      batchSeq: 9,
      hostOnlyHitBlocks: 1,
      deviceHitBlocks: 0,
      deviceBlocks: 3,
      hostBlocks: 1,
    });
    expect(scene.match(stream, OTHER_PROMPT)).toMatchObject({ deviceHitBlocks: 3 });
  });

  test("KvIndexWriter leaves an orphan out of a state, with its descendants, and counts the events", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0);
    const problem = scene.state(stream, 1, [
      store([21], OTHER_PROMPT.slice(0, 4)),
      store([12], PROMPT.slice(4, 8), { parent: 11 }),
      store([13], PROMPT.slice(8), { parent: 12 }),
      store([22], OTHER_PROMPT.slice(4, 8), { parent: 21 }),
    ]);
    expect(problem).toBeNull();
    expect(scene.skipped("orphan")).toBe(2);
    expect(scene.match(stream, OTHER_PROMPT)).toMatchObject({ deviceHitBlocks: 2, deviceBlocks: 2 });
  });

  test("KvIndexWriter does not take a parent of a state from the state before", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4))]);
    scene.state(stream, 2, [store([12], PROMPT.slice(4, 8), { parent: 11 })]);
    expect(scene.skipped("orphan")).toBe(1);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...HIDDEN, deviceBlocks: 0 });
  });

  test("KvIndexWriter applies changes to a state that is not visible yet, and shows both at once", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0);
    scene.begin(stream, "state", 4, [store([11, 12], PROMPT.slice(0, 8))]);
    scene.writer.continueWithChanges(5);
    for (const announce of [store([13], PROMPT.slice(8), { parent: 12 }), remove([11])]) announce(scene.writer);
    expect(scene.match(stream, PROMPT).unsynchronized).toEqual(unsynchronized("not-connected"));
    scene.writer.commit(5, "full");
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, batchSeq: 5, ...HIDDEN, deviceBlocks: 2 });
  });

  test("KvIndexWriter says whether the state that was begun is empty so far", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4))]);
    scene.begin(stream, "state", 2, []);
    expect(scene.writer.isStateEmpty).toBe(true);
    store([12], PROMPT.slice(4, 8), { parent: 11 })(scene.writer);
    expect(scene.writer.isStateEmpty).toBe(true);
    store([11], PROMPT.slice(0, 4))(scene.writer);
    expect(scene.writer.isStateEmpty).toBe(false);
  });

  test("KvIndexWriter reports an unknown parent in changes that follow a state", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0);
    scene.begin(stream, "state", 4, []);
    scene.writer.continueWithChanges(5);
    store([12], PROMPT.slice(4, 8), { parent: 11 })(scene.writer);
    expect(scene.writer.problem).toEqual(unsynchronized("unknown-parent", 5));
  });

  test("KvIndexWriter gives back the memory of a state that failed or was discarded", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const bytesBefore = scene.writer.bytesInUse;
    for (let batchSeq = 1; batchSeq <= 5; batchSeq++) {
      scene.begin(stream, "state", batchSeq, [store([11], PROMPT.slice(0, 4))]);
      scene.writer.fail(stream, unsynchronized("snapshot-malformed"));
    }
    for (let batchSeq = 6; batchSeq <= 10; batchSeq++) {
      scene.begin(stream, "state", batchSeq, [store([11], PROMPT.slice(0, 4))]);
      scene.writer.discard();
    }
    expect(scene.writer.bytesInUse).toBe(bytesBefore);
  });

  test("KvIndexWriter leaves the stream as it was when a state is discarded", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4))]);
    const before = scene.match(stream, PROMPT);
    scene.begin(stream, "state", 2, [store([12], PROMPT.slice(4, 8))]);
    scene.writer.discard();
    expect(scene.match(stream, PROMPT)).toEqual(before);
  });

  test("KvIndexWriter refuses a batch while another is open", async () => {
    const scene = await IndexScene.create();
    const [one, other] = [scene.openSynchronized(0), scene.openSynchronized(1)];
    scene.begin(one, "changes", 1, [store([11], PROMPT.slice(0, 4))]);
    expect(() => scene.begin(other, "changes", 1, [])).toThrow("a batch is ended before the next begins");
    expect(() => scene.writer.fail(other, unsynchronized("closed"))).toThrow("a batch is ended by its own stream");
  });

  test("KvIndexWriter drops everything at AllBlocksCleared", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12], PROMPT.slice(0, 8)), storeKnown([11], "disk")]);
    scene.changes(stream, 2, [clear]);
    expect(scene.match(stream, PROMPT)).toEqual({
      ...HIDDEN,
      unsynchronized: null,
      coverage: "full",
      batchSeq: 2,
      deviceBlocks: 0,
      hostBlocks: 0,
      diskBlocks: 0,
    });
  });

  test("KvIndexWriter builds the new state from the events after AllBlocksCleared, shown at the commit", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12], PROMPT.slice(0, 8))]);
    const before = scene.match(stream, PROMPT);
    scene.begin(stream, "changes", 2, [
      remove([12]),
      clear,
      store([21], OTHER_PROMPT.slice(0, 4)),
      clear,
      store([11], PROMPT.slice(0, 4)),
    ]);
    expect(scene.match(stream, PROMPT)).toEqual(before);
    scene.writer.commit(2, "full");
    expect(scene.match(stream, PROMPT)).toMatchObject({ batchSeq: 2, deviceHitBlocks: 1, deviceBlocks: 1 });
    expect(scene.prefixBlocks(stream, OTHER_PROMPT)).toBe(0);
  });

  test("KvIndexWriter reports a parent that AllBlocksCleared has dropped", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4))]);
    const problem = scene.changes(stream, 2, [clear, store([12], PROMPT.slice(4, 8), { parent: 11 })]);
    expect(problem).toEqual(unsynchronized("unknown-parent", 2));
  });
});

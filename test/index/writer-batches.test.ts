import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { type Announcement, clear, range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

const PROMPT = range(1, 3 * BLOCK_SIZE);
const HIDDEN = { deviceHitBlocks: 0, hostOnlyHitBlocks: 0, diskOnlyHitBlocks: 0 };

/** More changes than one commit makes visible at once. */
const LARGE = 6000;
const LARGE_PROMPT = range(0, LARGE * BLOCK_SIZE);

describe("KvIndexWriter batches", () => {
  test("KvIndexWriter shows a batch at its commit, not before", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4))]);
    const before = scene.match(stream, PROMPT);
    scene.begin(stream, "changes", 2, [store([12, 13], PROMPT.slice(4), { parent: 11 }), remove([11]), storeKnown([12], "host")]);
    expect(scene.match(stream, PROMPT)).toEqual(before);
    expect(scene.writer.commit(2, "full")).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...HIDDEN, batchSeq: 2, deviceBlocks: 2, hostBlocks: 1 });
  });

  test("KvIndexWriter leaves a block as it was when one batch stores and removes it, or removes and stores it", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const block = PROMPT.slice(0, 4);
    scene.changes(stream, 1, [store([11], block), remove([11]), store([11], block), remove([11])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...HIDDEN, deviceBlocks: 0 });
    scene.changes(stream, 2, [store([11], block)]);
    scene.changes(stream, 3, [remove([11]), store([11], block), remove([11]), store([11], block)]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1 });
  });

  test("KvIndexWriter takes a batch without events as a batch", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 5, []);
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, batchSeq: 5 });
  });

  test("KvIndexWriter hides a failed stream with the reason and its numbers", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4))]);
    scene.writer.fail(stream, unsynchronized("gap", 2, 2 ** 40));
    expect(scene.match(stream, PROMPT)).toMatchObject({
      ...HIDDEN,
      unsynchronized: unsynchronized("gap", 2, 2 ** 40),
      batchSeq: 1,
    });
  });

  test("KvIndexWriter hides what a failed batch had stored and removed, and the next state mends it", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12], PROMPT.slice(0, 8))]);
    scene.begin(stream, "changes", 2, [remove([11]), store([13], PROMPT.slice(8), { parent: 12 })]);
    scene.writer.fail(stream, unsynchronized("batch-malformed", 2));
    expect(scene.match(stream, PROMPT)).toMatchObject(HIDDEN);
    scene.state(stream, 3, [store([11, 12], PROMPT.slice(0, 8))]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, batchSeq: 3, deviceHitBlocks: 2, deviceBlocks: 2 });
  });

  test("KvIndexWriter carries batch sequences up to 2^53 - 1", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, Number.MAX_SAFE_INTEGER, []);
    expect(scene.match(stream, PROMPT).batchSeq).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("KvIndexWriter large batches", () => {
  const stored: Announcement[] = range(0, 3).map((part) => {
    const first = part * 2000;
    const tokens = LARGE_PROMPT.slice(first * BLOCK_SIZE, (first + 2000) * BLOCK_SIZE);
    return store(range(first, 2000), tokens, part === 0 ? {} : { parent: first - 1 });
  });

  test("KvIndexWriter hides a stream while a large batch goes in by parts, and is right in the end", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.begin(stream, "changes", 1, stored);
    expect(scene.match(stream, LARGE_PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: unsynchronized("large-batch", 1) });
    expect(scene.writer.commit(1, "full")).toBeNull();
    expect(scene.match(stream, LARGE_PROMPT)).toMatchObject({
      unsynchronized: null,
      batchSeq: 1,
      deviceHitBlocks: LARGE,
      deviceBlocks: LARGE,
    });
  });

  test("KvIndexWriter leaves other streams visible while a large batch goes in", async () => {
    const scene = await IndexScene.create();
    const [stream, other] = [scene.openSynchronized(0), scene.openSynchronized(1)];
    scene.changes(other, 1, [stored[0]]);
    scene.begin(stream, "changes", 1, stored);
    expect(scene.match(other, LARGE_PROMPT)).toMatchObject({ unsynchronized: null, deviceHitBlocks: 2000 });
  });

  test("KvIndexWriter removes, clears and replaces more blocks than one commit shows at once", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, stored);
    scene.changes(stream, 2, [remove(range(1, LARGE - 1))]);
    expect(scene.match(stream, LARGE_PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1 });
    scene.state(stream, 3, stored);
    expect(scene.match(stream, LARGE_PROMPT)).toMatchObject({ deviceHitBlocks: LARGE, deviceBlocks: LARGE });
    scene.changes(stream, 4, [clear]);
    expect(scene.match(stream, LARGE_PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: null, batchSeq: 4, deviceBlocks: 0 });
  });

  test("KvIndexWriter hides a stream for the failure of its large batch, not for the batch", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.begin(stream, "changes", 1, stored);
    scene.writer.fail(stream, unsynchronized("disconnected"));
    expect(scene.match(stream, LARGE_PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: unsynchronized("disconnected") });
    scene.state(stream, 2, []);
    expect(scene.match(stream, LARGE_PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: null, deviceBlocks: 0 });
  });
});

describe("KvIndexWriter streams", () => {
  test("KvIndexWriter opens a stream empty and unsynchronized for the reason given", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0);
    expect(scene.match(stream, PROMPT)).toEqual({
      ...HIDDEN,
      unsynchronized: unsynchronized("not-connected"),
      coverage: "full",
      batchSeq: 0,
      deviceBlocks: 0,
      hostBlocks: 0,
      diskBlocks: 0,
    });
  });

  test("KvIndexWriter opens a stream under a used id as if nothing had been there", async () => {
    const scene = await IndexScene.create();
    const first = scene.openSynchronized(0);
    scene.changes(first, 8, [store([11, 12], PROMPT.slice(0, 8))]);
    scene.writer.closeStream(first);
    const second = scene.open(0);
    expect(scene.match(second, PROMPT)).toMatchObject({ ...HIDDEN, batchSeq: 0, deviceBlocks: 0 });
    scene.state(second, 1, []);
    expect(scene.match(second, PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: null, batchSeq: 1, deviceBlocks: 0 });
  });

  test("KvIndexWriter closes a stream with all its blocks and gives back their memory", async () => {
    const scene = await IndexScene.create();
    const bytesBefore = scene.writer.bytesInUse;
    const [stream, other] = [scene.openSynchronized(0), scene.openSynchronized(1)];
    scene.changes(other, 1, [store([11], PROMPT.slice(0, 4))]);
    scene.changes(stream, 1, [store(range(1, LARGE), LARGE_PROMPT)]);
    scene.writer.closeStream(stream);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: unsynchronized("closed") });
    expect(scene.prefixBlocks(other, PROMPT)).toBe(1);
    scene.writer.closeStream(other);
    expect(scene.writer.bytesInUse).toBe(bytesBefore);
  });
});

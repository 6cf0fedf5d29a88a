import { describe, expect, test } from "bun:test";
import { type SkipReason, unsynchronized } from "#domain";
import { type Announcement, clear, range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

const PROMPT = range(1, 3 * BLOCK_SIZE);
const HIDDEN = { deviceHitBlocks: 0, hostOnlyHitBlocks: 0, diskOnlyHitBlocks: 0 };
const LENIENT = { counted: true, strict: false };
const DISCONNECTED = unsynchronized("disconnected");

const firstBlock = store([11], PROMPT.slice(0, 4));
const secondBlock = store([12], PROMPT.slice(4, 8), { parent: 11 });
const thirdBlock = store([13], PROMPT.slice(8), { parent: 12 });

function skip(reason: SkipReason): Announcement {
  return (sink) => sink.eventSkipped(reason);
}

describe("KvIndexWriter coverage", () => {
  test("KvIndexWriter shows the coverage that a batch is committed with, and keeps it while the stream is hidden", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0, LENIENT);
    expect(scene.match(stream, PROMPT).coverage).toBe("full");
    scene.knownPart(stream, 1, [firstBlock]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ coverage: "partial", deviceHitBlocks: 1 });
    scene.writer.fail(stream, DISCONNECTED);
    expect(scene.match(stream, PROMPT).coverage).toBe("partial");
    scene.changes(stream, 2, []);
    expect(scene.match(stream, PROMPT)).toMatchObject({ coverage: "full", deviceHitBlocks: 1 });
  });

  test("KvIndexWriter shows the coverage of a state without blocks", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0, LENIENT);
    scene.begin(stream, "known-part", 4, [clear]);
    expect(scene.writer.commit(4, "partial")).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, coverage: "partial", batchSeq: 4 });
  });

  test("KvIndexWriter opens a stream with full coverage under the id of one with partial coverage", async () => {
    const scene = await IndexScene.create();
    const first = scene.openSynchronized(0, LENIENT);
    scene.knownPart(first, 1, []);
    scene.writer.closeStream(first);
    expect(scene.match(scene.open(0), PROMPT).coverage).toBe("full");
  });
});

describe("KvIndexWriter states known in part", () => {
  test("KvIndexWriter leaves out a block whose parent is unknown, with its descendants, and applies the rest", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0, LENIENT);
    expect(scene.knownPart(stream, 9, [secondBlock, thirdBlock, firstBlock, remove([12])])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, deviceHitBlocks: 1, deviceBlocks: 1 });
    expect(scene.skipped("unknown-parent")).toBe(2);
    expect(scene.writer.isIncomplete).toBe(true);
    expect(scene.writer.oddities.unknownRemovals).toBe(1);
  });

  test("KvIndexWriter takes a block that was left out once its parent is known", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0, LENIENT);
    scene.knownPart(stream, 9, [secondBlock]);
    expect(scene.knownPart(stream, 10, [firstBlock, secondBlock])).toBeNull();
    expect(scene.writer.isIncomplete).toBe(false);
    expect(scene.prefixBlocks(stream, PROMPT)).toBe(2);
  });

  test("KvIndexWriter reports an unknown parent of a stream that is known in full, strict or not", async () => {
    const scene = await IndexScene.create();
    for (const strict of [true, false]) {
      const stream = scene.openSynchronized(Number(strict), { strict });
      expect(scene.changes(stream, 1, [secondBlock])).toEqual(unsynchronized("unknown-parent", 1));
      expect(scene.skipped("unknown-parent")).toBe(0);
    }
  });

  test("KvIndexWriter reports the limit of blocks in a state known in part", async () => {
    const scene = await IndexScene.create({ maxBlocksPerStream: 1 });
    const stream = scene.open(0, LENIENT);
    expect(scene.knownPart(stream, 9, [firstBlock, secondBlock])).toEqual(unsynchronized("block-limit", 1));
  });
});

describe("KvIndexWriter leaving stores out", () => {
  test.each([
    { reason: "wrong-block-size", event: store([21], range(1, 16)) },
    { reason: "wrong-token-count", event: store([21], range(1, 5), { blockSize: BLOCK_SIZE }) },
    { reason: "malformed-event", event: skip("malformed-event") },
    { reason: "own-parent", event: store([21], range(1, 4), { parent: 21 }) },
  ] as const)("KvIndexWriter leaves out $reason of a stream that is not strict, and says so", async ({ reason, event }) => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0, LENIENT);
    expect(scene.changes(stream, 1, [event, firstBlock])).toBeNull();
    expect(scene.writer.isIncomplete).toBe(true);
    expect(scene.skipped(reason)).toBe(1);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1 });
  });

  test.each(["sparse-group", "not-owned", "unknown-medium", "unknown-event"] as const)(
    "KvIndexWriter does not call a batch incomplete for %s",
    async (reason) => {
      const scene = await IndexScene.create();
      const stream = scene.openSynchronized(0, LENIENT);
      expect(scene.changes(stream, 1, [skip(reason), firstBlock])).toBeNull();
      expect(scene.writer.isIncomplete).toBe(false);
      expect(scene.skipped(reason)).toBe(1);
    },
  );

  test("KvIndexWriter calls a state incomplete for an orphan where the stream is not strict", async () => {
    const scene = await IndexScene.create();
    const [lenient, strict] = [scene.open(0, LENIENT), scene.open(1)];
    scene.state(lenient, 1, [secondBlock]);
    expect([scene.skipped("orphan"), scene.writer.isIncomplete]).toEqual([1, true]);
    scene.state(strict, 1, [secondBlock]);
    expect([scene.skipped("orphan"), scene.writer.isIncomplete]).toEqual([2, false]);
  });

  test("KvIndexWriter does not call a batch incomplete for blocks without tokens", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0, LENIENT);
    scene.changes(stream, 1, [storeKnown([99], "host")]);
    expect(scene.writer.isIncomplete).toBe(false);
  });

  test("KvIndexWriter forgets at AllBlocksCleared what was left out before, and says that it came", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0, LENIENT);
    scene.knownPart(stream, 9, [secondBlock]);
    expect([scene.writer.isIncomplete, scene.writer.wasCleared]).toEqual([true, false]);
    scene.knownPart(stream, 10, [secondBlock, clear, firstBlock]);
    expect([scene.writer.isIncomplete, scene.writer.wasCleared]).toEqual([false, true]);
    scene.knownPart(stream, 11, [clear, secondBlock]);
    expect([scene.writer.isIncomplete, scene.writer.wasCleared]).toEqual([true, true]);
    scene.knownPart(stream, 12, []);
    expect([scene.writer.isIncomplete, scene.writer.wasCleared]).toEqual([false, false]);
  });
});

describe("KvIndexWriter out of sight", () => {
  test("KvIndexWriter keeps batches of a hidden stream, and shows all of them at the first commit", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0, LENIENT);
    for (const [n, event] of [firstBlock, secondBlock].entries()) {
      scene.begin(stream, "known-part", n + 5, [event]);
      expect(scene.writer.keep(n + 5)).toBeNull();
      expect(scene.match(stream, PROMPT)).toMatchObject({
        ...HIDDEN,
        unsynchronized: unsynchronized("not-connected"),
        batchSeq: n + 5,
        deviceBlocks: n + 1,
      });
    }
    scene.knownPart(stream, 7, [thirdBlock]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, deviceHitBlocks: 3, batchSeq: 7 });
  });

  test("KvIndexWriter gives the blocks of a batch that is kept to no other stream", async () => {
    const scene = await IndexScene.create();
    const [stream, other] = [scene.open(0, LENIENT), scene.openSynchronized(1)];
    scene.begin(stream, "known-part", 1, [firstBlock, secondBlock]);
    scene.writer.keep(1);
    scene.changes(other, 1, [firstBlock]);
    scene.knownPart(stream, 2, []);
    expect([stream, other].map((each) => scene.prefixBlocks(each, PROMPT))).toEqual([2, 1]);
  });

  test("KvIndexWriter goes on from the last batch of a stream that was hidden between batches", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0, LENIENT);
    scene.changes(stream, 1, [firstBlock]);
    scene.writer.fail(stream, unsynchronized("gap", 2, 4));
    scene.begin(stream, "changes", 2, [secondBlock]);
    expect(scene.writer.keep(2)).toBeNull();
    expect(scene.changes(stream, 3, [remove([11]), firstBlock, thirdBlock])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, coverage: "full", deviceHitBlocks: 3 });
  });

  test("KvIndexWriter keeps a state, and what follows AllBlocksCleared", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0, LENIENT);
    scene.changes(stream, 1, [firstBlock, secondBlock]);
    scene.writer.fail(stream, DISCONNECTED);
    scene.begin(stream, "known-part", 2, [clear, firstBlock]);
    scene.writer.keep(2);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: DISCONNECTED, deviceBlocks: 1 });
    scene.begin(stream, "state", 3, []);
    scene.writer.keep(3);
    expect(scene.match(stream, PROMPT)).toMatchObject({ ...HIDDEN, unsynchronized: DISCONNECTED, deviceBlocks: 0 });
    scene.changes(stream, 4, [firstBlock]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, deviceHitBlocks: 1, deviceBlocks: 1 });
  });

  test("KvIndexWriter keeps batches with more changes than one commit shows at once", async () => {
    const scene = await IndexScene.create();
    const stream = scene.open(0, LENIENT);
    const tokens = range(0, 6000 * BLOCK_SIZE);
    scene.begin(stream, "known-part", 1, [store(range(0, 6000), tokens)]);
    scene.writer.keep(1);
    expect(scene.match(stream, tokens)).toMatchObject({ ...HIDDEN, unsynchronized: unsynchronized("not-connected") });
    scene.knownPart(stream, 2, []);
    expect(scene.match(stream, tokens)).toMatchObject({ deviceHitBlocks: 6000, deviceBlocks: 6000 });
  });

  test("KvIndexWriter forgets what a hidden stream holds, and keeps the reason", async () => {
    const scene = await IndexScene.create();
    const [stream, other] = [scene.openSynchronized(0, LENIENT), scene.openSynchronized(1)];
    const bytesBefore = scene.writer.bytesInUse;
    scene.changes(other, 1, [firstBlock]);
    scene.knownPart(stream, 1, [firstBlock, secondBlock, remove([12])]);
    scene.begin(stream, "known-part", 2, [thirdBlock]);
    scene.writer.fail(stream, unsynchronized("batch-malformed", 2));
    scene.writer.forget(stream);
    expect(scene.match(stream, PROMPT)).toMatchObject({
      ...HIDDEN,
      unsynchronized: unsynchronized("batch-malformed", 2),
      coverage: "full",
      batchSeq: 0,
      deviceBlocks: 0,
    });
    expect(scene.prefixBlocks(other, PROMPT)).toBe(1);
    scene.knownPart(stream, 3, [thirdBlock, secondBlock]);
    expect(scene.skipped("unknown-parent")).toBe(2);
    scene.changes(other, 2, [clear]);
    expect(scene.writer.bytesInUse).toBe(bytesBefore);
  });

  test("KvIndexWriter refuses to keep or forget what readers see", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0, LENIENT);
    expect(() => scene.writer.forget(stream)).toThrow("a stream is forgotten that is out of sight");
    scene.begin(stream, "known-part", 1, [firstBlock]);
    expect(() => scene.writer.forget(stream)).toThrow("a stream is forgotten between batches");
    expect(() => scene.writer.keep(1)).toThrow("a batch is kept of a stream that is out of sight");
  });
});

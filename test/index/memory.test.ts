import { describe, expect, test } from "bun:test";
import { createIndex, KvIndexReader, worstCaseBytes } from "#index";
import { range, remove, store } from "./announcements.ts";
import { IndexScene, leastBytes } from "./scene.ts";

/** What one block held by one stream may cost, all included (DESIGN: speed and size that are expected). */
const BYTES_PER_BLOCK_MAX = 200;
const BATCH_BLOCKS = 10_000;

describe("createIndex", () => {
  test.each([0, 129, -1])("createIndex refuses %d streams", async (maxStreams) => {
    const message = `Cannot create the index: ${maxStreams} streams, 1 to 128 are possible`;
    await expect(createIndex({ maxStreams, maxBlocksPerStream: 100 })).rejects.toThrow(new RangeError(message));
  });

  test("createIndex refuses memory that does not hold its fixed area and a page a stream", async () => {
    const created = createIndex({ maxStreams: 1, maxBlocksPerStream: 100, maxBytes: 1_000_000 });
    await expect(created).rejects.toThrow(/^Cannot create the index: 1000000 bytes of memory, at least \d+ are needed$/);
  });

  test("createIndex takes the least memory that it names, and not a page less", async () => {
    const limits = { maxStreams: 3, maxBlocksPerStream: 100 };
    const maxBytes = await leastBytes(limits);
    expect((await createIndex({ ...limits, maxBytes })).limits.maxBytes).toBe(maxBytes);
    await expect(createIndex({ ...limits, maxBytes: maxBytes - 65_536 })).rejects.toThrow("Cannot create the index");
  });

  test("createIndex gives a handle that two readers can attach to, and no third", async () => {
    const handle = await createIndex({ maxStreams: 1, maxBlocksPerStream: 100 });
    expect(new KvIndexReader(handle, 0).tokens.byteOffset).not.toBe(new KvIndexReader(handle, 1).tokens.byteOffset);
    for (const reader of [-1, 2]) {
      expect(() => new KvIndexReader(handle, reader)).toThrow(new RangeError(`Cannot attach reader ${reader}: 0 to 1 exist`));
    }
  });
});

describe("bytesInUse", () => {
  test(`bytesInUse is at most ${BYTES_PER_BLOCK_MAX} bytes a block from 200,000 blocks on, whatever the number`, async () => {
    const scene = await IndexScene.create({ maxStreams: 1, maxBlocksPerStream: 450_000 });
    const stream = scene.openSynchronized(0, { blockSize: 1 });
    const bytesBefore = scene.writer.bytesInUse;
    const bytesPerBlock: number[] = [];
    for (let blocks = BATCH_BLOCKS; blocks <= 440_000; blocks += BATCH_BLOCKS) {
      const hashes = range(blocks, BATCH_BLOCKS);
      expect(scene.changes(stream, blocks, [store(hashes, hashes)])).toBeNull();
      if (blocks >= 200_000) bytesPerBlock.push((scene.writer.bytesInUse - bytesBefore) / blocks);
    }
    expect(Math.max(...bytesPerBlock)).toBeLessThanOrEqual(BYTES_PER_BLOCK_MAX);
    const mean = bytesPerBlock.reduce((sum, bytes) => sum + bytes) / bytesPerBlock.length;
    expect(worstCaseBytes(scene.handle.limits) / 450_000 / mean).toBeWithin(0.95, 1.05);
    expect(scene.reader.bytesInUse).toBe(scene.writer.bytesInUse);
  });

  test("bytesInUse counts a block that many streams hold once in the block table", async () => {
    const streams = 16;
    const blocks = 20_000;
    const scene = await IndexScene.create({ maxStreams: streams, maxBlocksPerStream: blocks });
    const bytesBefore = scene.writer.bytesInUse;
    for (const id of range(0, streams)) {
      const stream = scene.openSynchronized(id, { blockSize: 1 });
      expect(scene.changes(stream, 1, [store(range(0, blocks), range(0, blocks))])).toBeNull();
    }
    const bytesPerBlock = (scene.writer.bytesInUse - bytesBefore) / (streams * blocks);
    expect(bytesPerBlock).toBeLessThan(BYTES_PER_BLOCK_MAX / 2);
  });

  test("bytesInUse falls as blocks leave, and ends where it began", async () => {
    const scene = await IndexScene.create({ maxStreams: 1, maxBlocksPerStream: 100_000 });
    const stream = scene.openSynchronized(0, { blockSize: 1 });
    const bytesEmpty = scene.writer.bytesInUse;
    const hashes = range(0, 100_000);
    scene.changes(stream, 1, [store(hashes, hashes)]);
    const bytesFull = scene.writer.bytesInUse;
    scene.changes(stream, 2, [remove(hashes.slice(10_000))]);
    const bytesTenth = scene.writer.bytesInUse;
    expect(bytesTenth).toBeLessThan(bytesFull / 4);
    expect(bytesTenth).toBeGreaterThan(bytesEmpty);
    expect(scene.match(stream, hashes)).toMatchObject({ deviceHitBlocks: 10_000, deviceBlocks: 10_000 });
    scene.changes(stream, 3, [(sink) => sink.allBlocksCleared()]);
    expect(scene.writer.bytesInUse).toBe(bytesEmpty);
  });
});

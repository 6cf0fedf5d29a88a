import { expect, test } from "bun:test";
import { KvDirectory } from "#index";
import { remove, store } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

const PAGE_BYTES = 65_536;
const BLOCK_ENTRY_BYTES = 64;
const STREAM_ENTRY_BYTES = 32;

const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

test("figures count a block that several streams hold once, and its entries where they are", async () => {
  const scene = await IndexScene.create({ maxStreams: 4 });
  const { figures: empty } = new KvDirectory(scene.handle);
  expect(empty.entries).toBe(0);
  expect(empty.loadFactor).toBe(0);
  const tokens = range(0, 10 * BLOCK_SIZE);
  for (const id of [0, 1]) scene.changes(scene.openSynchronized(id), 1, [store(range(1, 10), tokens)]);
  const { entries, bytesInUse, loadFactor } = scene.reader.figures;
  expect(entries).toBe(10);
  expect(bytesInUse).toBe(scene.reader.bytesInUse);
  expect(loadFactor).toBeCloseTo((10 * BLOCK_ENTRY_BYTES + 20 * STREAM_ENTRY_BYTES) / bytesInUse, 12);
});

test("figures fall when blocks leave", async () => {
  const scene = await IndexScene.create({ maxStreams: 1 });
  const stream = scene.openSynchronized(0);
  scene.changes(stream, 1, [store(range(1, 10), range(0, 10 * BLOCK_SIZE))]);
  scene.changes(stream, 2, [remove(range(1, 10))]);
  expect(scene.reader.figures.entries).toBe(0);
});

test("figures tell the limit that the tables reach, and what memory was taken", async () => {
  const maxBytes = 64 * 1024 * 1024;
  const scene = await IndexScene.create({ maxStreams: 1, maxBytes });
  const { bytesMax, bytesInUse, bytesReserved } = scene.reader.figures;
  expect(bytesMax).toBeLessThan(maxBytes);
  expect(bytesMax % PAGE_BYTES).toBe(0);
  expect(bytesReserved).toBe(scene.handle.memory.buffer.byteLength);
  expect(bytesInUse).toBeWithin(PAGE_BYTES, bytesMax);
});

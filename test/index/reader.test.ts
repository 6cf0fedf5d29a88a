import { describe, expect, test } from "bun:test";
import { TIERS } from "#domain";
import { KvIndexReader } from "#index";
import { readStream } from "../support/read-stream.ts";
import { range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

const PROMPT_TOKENS_MAX = 1_048_576;
const PROMPT = range(1, 6 * BLOCK_SIZE);

/** The 128-bit set of these stream ids. */
function setOf(ids: readonly number[]): Uint32Array {
  const words = new Uint32Array(4);
  for (const id of ids) words[id >> 5] |= 1 << (id & 31);
  return words;
}

describe("KvIndexReader", () => {
  test("KvIndexReader counts each block of the prefix on the fastest tier that holds it", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const hashes = range(11, 6);
    scene.changes(stream, 1, [
      ...hashes.map((hash, block) => {
        const tokens = PROMPT.slice(block * BLOCK_SIZE, (block + 1) * BLOCK_SIZE);
        const tier = TIERS[block % 3];
        return store([hash], tokens, block === 0 ? { tier } : { tier, parent: hash - 1 });
      }),
      storeKnown([11, 12], "disk"),
      storeKnown([16], "host"),
    ]);
    expect(scene.match(stream, PROMPT)).toMatchObject({
      deviceHitBlocks: 2,
      hostOnlyHitBlocks: 3,
      diskOnlyHitBlocks: 1,
      deviceBlocks: 2,
      hostBlocks: 3,
      diskBlocks: 4,
    });
  });

  test("KvIndexReader stops at the first block that is on no tier", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store(range(11, 6), PROMPT), remove([14])]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 3, deviceBlocks: 5 });
  });

  test("KvIndexReader counts complete blocks only, of the prompt given", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store(range(11, 6), PROMPT)]);
    const found = [0, 3, 4, 7, 8, 23, 24].map((tokenCount) => scene.prefixBlocks(stream, PROMPT.slice(0, tokenCount)));
    expect(found).toEqual([0, 0, 1, 1, 2, 5, 6]);
  });

  test("KvIndexReader reads 128 streams in one match, each with its own prefix and tiers", async () => {
    const scene = await IndexScene.create();
    const blocks = 300;
    const tokens = range(0, blocks);
    // Stream n holds 2n + 1 blocks; of those, every (n + 2)th on host only, and every (n + 3)th of the rest on disk only.
    const tierOf = (id: number, block: number) => (block % (id + 2) === 0 ? 1 : block % (id + 3) === 0 ? 2 : 0);
    for (const id of range(0, 128)) {
      const stream = scene.openSynchronized(id, { blockSize: 1 });
      const announcements = range(0, 2 * id + 1).map((block) => {
        const tier = TIERS[tierOf(id, block)];
        return store([block], [block], block === 0 ? { tier } : { tier, parent: block - 1 });
      });
      scene.changes(stream, 1, announcements);
    }
    scene.reader.tokens.set(tokens);
    expect(scene.reader.match(blocks, { blockSize: 1, hashSeed: 1024 }, setOf(range(0, 128)), null)).toBe(true);
    for (const id of range(0, 128)) {
      const expected = [0, 0, 0];
      for (const block of range(0, 2 * id + 1)) expected[tierOf(id, block)]++;
      const { deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks } = readStream(scene.reader, id);
      expect([deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks]).toEqual(expected);
    }
  });

  test("KvIndexReader gives hits to the streams asked for, and every stream's state", async () => {
    const scene = await IndexScene.create();
    const [first, second] = [scene.openSynchronized(3), scene.openSynchronized(100)];
    for (const stream of [first, second]) scene.changes(stream, 1, [store([11], PROMPT.slice(0, 4))]);
    scene.reader.tokens.set(PROMPT);
    scene.reader.match(PROMPT.length, first, setOf([100]), null);
    expect(readStream(scene.reader, 3)).toMatchObject({ deviceHitBlocks: 0, deviceBlocks: 1, batchSeq: 1 });
    expect(readStream(scene.reader, 100)).toMatchObject({ deviceHitBlocks: 1, deviceBlocks: 1, batchSeq: 1 });
  });

  test("KvIndexReader matches the longest prompt, on a slow tier as a whole", async () => {
    const scene = await IndexScene.create({ maxBlocksPerStream: 140_000 });
    const stream = scene.openSynchronized(0, { blockSize: 8 });
    const tokens = range(0, PROMPT_TOKENS_MAX);
    const blocks = PROMPT_TOKENS_MAX / 8;
    expect(scene.reader.tokens.length).toBe(PROMPT_TOKENS_MAX);
    expect(scene.changes(stream, 1, [store(range(0, blocks), tokens, { tier: "host" })])).toBeNull();
    expect(scene.match(stream, tokens)).toMatchObject({ deviceHitBlocks: 0, hostOnlyHitBlocks: blocks });
  });

  test("KvIndexReader does not disturb another reader's prompt and answers", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store(range(11, 6), PROMPT)]);
    const second = new KvIndexReader(scene.handle, 1);
    scene.match(stream, PROMPT);
    second.tokens.set(PROMPT.slice(0, 8));
    second.match(8, stream, setOf([0]), null);
    expect(readStream(scene.reader, 0).deviceHitBlocks).toBe(6);
    expect(readStream(second, 0).deviceHitBlocks).toBe(2);
    expect([...scene.reader.tokens.subarray(0, PROMPT.length)]).toEqual(PROMPT);
  });
});

import { describe, expect, test } from "bun:test";
import { attachKernel } from "../../src/index/memory.ts";
import { range, store } from "./announcements.ts";
import { IndexScene } from "./scene.ts";

// xLLM's own block hashes of the tokens 1, 2, 3, …: its xxh3 hasher with seed 1024, the digest's low word first.
const XLLM_VECTORS = [
  { blockSize: 16, keys: ["cce872f24ddd4da242181e528a8a5d7c", "baf6ab6b946ce13c3ba631d4ccf4656b"] },
  { blockSize: 128, keys: ["855c6ac51228a955bfd7781b11ed2208", "f5b65b1fcb28bf7e0cf7d5000c69444f"] },
];

const scene = await IndexScene.create();
const kernel = attachKernel(scene.handle, 0);

/** The keys that a query for this prompt looks up. */
function promptKeys(tokens: readonly number[], blockSize: number, hashSeed: number): string[] {
  // digestBytes gives the address where this reader's keys are.
  const address = kernel.digestBytes(0, 0n);
  const blocks = Math.floor(tokens.length / blockSize);
  scene.reader.tokens.set(tokens);
  kernel.beginPrompt(blockSize, hashSeed);
  kernel.hashPrompt(blocks);
  return range(0, blocks).map((block) => new Uint8Array(scene.handle.memory.buffer, address + block * 16, 16).slice().toHex());
}

describe("Content keys", () => {
  test.each(XLLM_VECTORS)("Content keys are xLLM's own block hashes, block size $blockSize", ({ blockSize, keys }) => {
    expect(promptKeys(range(1, 2 * blockSize), blockSize, 1024)).toEqual(keys);
  });

  // The query's keys are the vectors, so blocks that it finds were stored under the vectors too.
  test.each(XLLM_VECTORS)("Content keys of stored blocks are those of a query, block size $blockSize", ({ blockSize }) => {
    const tokens = range(1, 2 * blockSize);
    const stream = scene.openSynchronized(0, { blockSize });
    scene.changes(stream, 1, [store([1, 2], tokens)]);
    expect(scene.prefixBlocks(stream, tokens)).toBe(2);
    scene.writer.closeStream(stream);
  });

  test.each([
    { name: "one event", events: [store(range(1, 3), range(1, 12))] },
    {
      name: "an event a block",
      events: [store([1], range(1, 4)), store([2], range(5, 4), { parent: 1 }), store([3], range(9, 4), { parent: 2 })],
    },
  ])("Content keys do not depend on how a prefix was announced: $name", ({ events }) => {
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, events);
    expect(scene.prefixBlocks(stream, range(1, 12))).toBe(3);
    scene.writer.closeStream(stream);
  });

  test.each([1, 2, 3, 5, 64, 1000, 4096])("Content keys chain over several blocks of %d tokens", (blockSize) => {
    const blocks = 40;
    const tokens = range(7, blocks * blockSize);
    const stream = scene.openSynchronized(0, { blockSize });
    scene.changes(stream, 1, [store(range(1, blocks), tokens)]);
    expect(scene.prefixBlocks(stream, tokens)).toBe(blocks);
    const changed = tokens.with(blockSize, 1_000_000);
    expect(scene.prefixBlocks(stream, changed)).toBe(1);
    scene.writer.closeStream(stream);
  });

  test("Content keys differ by everything before the block", () => {
    const [, second] = promptKeys([1, 2, 3, 4, 5, 6, 7, 8], 4, 1024);
    const [, other] = promptKeys([0, 2, 3, 4, 5, 6, 7, 8], 4, 1024);
    const [alone] = promptKeys([5, 6, 7, 8], 4, 1024);
    expect(new Set([second, other, alone]).size).toBe(3);
  });

  test("Content keys differ by seed", () => {
    expect(promptKeys(range(1, 16), 16, 1024)).not.toEqual(promptKeys(range(1, 16), 16, 0));
  });

  test("Content keys leave the prompt's tokens as they were", () => {
    const tokens = range(1, 64);
    promptKeys(tokens, 4, 1024);
    expect([...scene.reader.tokens.subarray(0, 64)]).toEqual(tokens);
  });

  test("Content keys take tokens up to 2^32 - 1", () => {
    const tokens = [0xffffffff, 0, 0x80000000, 0xfffffffe];
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([1], tokens)]);
    expect(scene.prefixBlocks(stream, tokens)).toBe(1);
    expect(scene.prefixBlocks(stream, [0xffffffff, 0, 0x7fffffff, 0xfffffffe])).toBe(0);
    scene.writer.closeStream(stream);
  });
});

import { describe, expect, test } from "bun:test";
import { createXXHash128 } from "hash-wasm";
import { concatenate, extraKeyBytes, loraIdRoot, loraNameRoot, type Namespace } from "#domain";
import { attachKernel } from "../../src/index/memory.ts";
import { range, store } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

/** Bytes that re-key a chain at once. */
const KEY_BYTES_MAX = 65_536;

const PROMPT = range(1, 4 * BLOCK_SIZE);
const ADAPTER = loraNameRoot("adapter-a");
const SALT = extraKeyBytes(["salt-1"]);
const IMAGE = extraKeyBytes([{ identifier: "image-1", offset: 2 }]);

const NAMESPACES: readonly (Namespace | null)[] = [
  null,
  { root: ADAPTER, extraKeys: null },
  { root: loraNameRoot("adapter-b"), extraKeys: null },
  { root: loraIdRoot(1), extraKeys: null },
  { root: ADAPTER, extraKeys: [SALT] },
  { root: null, extraKeys: [SALT] },
  { root: null, extraKeys: [extraKeyBytes(["salt-2"])] },
  { root: null, extraKeys: [extraKeyBytes(["adapter-a"])] },
  { root: null, extraKeys: [IMAGE] },
  { root: null, extraKeys: [extraKeyBytes([{ identifier: "image-1", offset: 3 }])] },
];

const scene = await IndexScene.create({ maxBlocksPerStream: 100_000 });

/** Blocks of the prompt that a stream holds which was told these events, when asked under the namespace. */
function heldBlocks(
  announcements: readonly ReturnType<typeof store>[],
  namespace: Namespace | null,
  prompt: readonly number[] = PROMPT,
): number {
  const stream = scene.openSynchronized(0);
  expect(scene.changes(stream, 1, announcements)).toBeNull();
  const blocks = scene.prefixBlocks(stream, prompt, namespace);
  scene.writer.closeStream(stream);
  return blocks;
}

/** The whole prompt under the namespace, in one event. */
function stored(namespace: Namespace | null, prompt: readonly number[] = PROMPT): ReturnType<typeof store> {
  return store(range(11, prompt.length / BLOCK_SIZE), prompt, namespace === null ? {} : { namespace });
}

/** Bytes without a meaning, as many as these. */
function longKey(length: number): Uint8Array {
  return new Uint8Array(length).fill(7);
}

describe("Namespaces", () => {
  test("Namespaces set equal tokens apart, each from each", () => {
    for (const [n, told] of NAMESPACES.entries()) {
      const found = NAMESPACES.map((asked) => heldBlocks([stored(told)], asked));
      expect(found).toEqual(NAMESPACES.map((_, m) => (m === n ? 4 : 0)));
    }
  });

  test("Namespaces re-key the chain of content keys by XXH3-128 with the stream's seed", async () => {
    const namespace = { root: ADAPTER, extraKeys: [SALT, null, IMAGE] };
    const kernel = attachKernel(scene.handle, 0);
    const keysAddress = kernel.digestBytes(0, 0n);
    const hasher = await createXXHash128(1024, 0);
    // Prints the high word first; keys have the low one first.
    const digest = (parts: Uint8Array[]) => Uint8Array.fromHex(hasher.init().update(concatenate(parts)).digest()).reverse();
    const block = (n: number) => new Uint8Array(Uint32Array.from(PROMPT.slice(n * 4, n * 4 + 4)).buffer);
    const stream = scene.openSynchronized(0);
    scene.match(stream, PROMPT, namespace);
    scene.writer.closeStream(stream);
    const found = range(0, 4).map((n) => new Uint8Array(scene.handle.memory.buffer, keysAddress + n * 16, 16).slice());
    const first = digest([digest([ADAPTER, SALT ?? ADAPTER]), block(0)]);
    const second = digest([first, block(1)]);
    const third = digest([digest([second, IMAGE ?? ADAPTER]), block(2)]);
    expect(found).toEqual([first, second, third, digest([third, block(3)])]);
  });

  test("Namespaces begin at the first block with an extra key; the blocks before are plain text's", () => {
    const namespace = { root: null, extraKeys: [null, null, IMAGE, null] };
    expect(heldBlocks([stored(namespace)], namespace)).toBe(4);
    expect(heldBlocks([stored(namespace)], null)).toBe(2);
    expect(heldBlocks([stored(null)], namespace)).toBe(2);
  });

  test("Namespaces with an extra key more at a later block share the blocks before it", () => {
    const shorter = { root: ADAPTER, extraKeys: [SALT] };
    const longer = { root: ADAPTER, extraKeys: [SALT, null, null, IMAGE] };
    expect(heldBlocks([stored(shorter)], longer)).toBe(3);
    expect(heldBlocks([stored(longer)], shorter)).toBe(3);
  });

  test("Namespaces are inherited from the parent, which the event need not say again", () => {
    const namespace = { root: ADAPTER, extraKeys: [SALT] };
    const parts = [PROMPT.slice(0, 4), PROMPT.slice(4)] as const;
    const root = store([11], parts[0], { namespace });
    for (const said of [{}, { namespace: { root: ADAPTER, extraKeys: null } }]) {
      const events = [root, store([12, 13, 14], parts[1], { parent: 11, ...said })];
      expect(heldBlocks(events, namespace)).toBe(4);
      expect(heldBlocks(events, null)).toBe(0);
    }
  });

  test("Namespaces do not depend on how a prefix was announced", () => {
    const namespace = { root: ADAPTER, extraKeys: [SALT, null, IMAGE, IMAGE] };
    const blocks = range(0, 4).map((n) => {
      const part = { root: ADAPTER, extraKeys: [namespace.extraKeys[n]] };
      const tokens = PROMPT.slice(n * BLOCK_SIZE, (n + 1) * BLOCK_SIZE);
      return store([11 + n], tokens, n === 0 ? { namespace: part } : { namespace: part, parent: 10 + n });
    });
    expect(heldBlocks(blocks, namespace)).toBe(4);
    expect(heldBlocks([stored(namespace)], namespace)).toBe(4);
  });

  test.each([
    { name: "an empty list", namespace: { root: null, extraKeys: [] } },
    { name: "nulls", namespace: { root: null, extraKeys: [null, null, null, null, null, null] } },
    { name: "no bytes", namespace: { root: new Uint8Array(0), extraKeys: [null, new Uint8Array(0)] } },
  ])("Namespaces of nothing are plain text: $name", ({ namespace }) => {
    expect(heldBlocks([stored(namespace)], null)).toBe(4);
    expect(heldBlocks([stored(null)], namespace)).toBe(4);
  });

  test("Namespaces may have extra keys beyond the prompt", () => {
    const namespace = { root: null, extraKeys: [null, IMAGE, null, SALT] };
    expect(heldBlocks([stored(namespace)], namespace, PROMPT.slice(0, 7))).toBe(1);
    expect(heldBlocks([stored(namespace)], namespace, [])).toBe(0);
  });

  test.each([KEY_BYTES_MAX - 1, KEY_BYTES_MAX, KEY_BYTES_MAX + 1, 3 * KEY_BYTES_MAX])(
    "Namespaces take extra keys of %d bytes, and tell them apart by every byte",
    (length) => {
      const namespace = { root: null, extraKeys: [longKey(length)] };
      expect(heldBlocks([stored(namespace)], namespace)).toBe(4);
      for (const other of [longKey(length - 1), longKey(length).with(length - 1, 8), longKey(length).with(0, 8)]) {
        expect(heldBlocks([stored(namespace)], { root: null, extraKeys: [other] })).toBe(0);
      }
    },
  );

  test("Namespaces have their extra keys where an event is longer than one call into the kernel", () => {
    const blocks = 40_000;
    const prompt = range(0, blocks * BLOCK_SIZE);
    const extraKeys = range(0, blocks).map((block) => (block % 15_000 === 14_999 ? IMAGE : null));
    const namespace = { root: ADAPTER, extraKeys };
    expect(heldBlocks([stored(namespace, prompt)], namespace, prompt)).toBe(blocks);
    const without = { root: ADAPTER, extraKeys: extraKeys.with(29_999, null) };
    expect(heldBlocks([stored(namespace, prompt)], without, prompt)).toBe(29_999);
  });

  test("Namespaces leave no trace in the next event and the next prompt", () => {
    const namespace = { root: ADAPTER, extraKeys: [SALT, IMAGE] };
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [stored(namespace), store(range(21, 4), PROMPT)]);
    for (const asked of [namespace, null, namespace]) expect(scene.prefixBlocks(stream, PROMPT, asked)).toBe(4);
    expect([...scene.reader.tokens.subarray(0, PROMPT.length)]).toEqual(PROMPT);
    scene.writer.closeStream(stream);
  });
});

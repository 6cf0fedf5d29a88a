import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { clear, range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene } from "./scene.ts";

/** Ghosts that a stream remembers. */
const GHOSTS_MAX = 4096;

const PROMPT = range(1, 2 * BLOCK_SIZE);
const [FIRST_BLOCK, SECOND_BLOCK] = [PROMPT.slice(0, 4), PROMPT.slice(4)];

/** Single blocks with hashes and contents of their own, none of them of PROMPT. */
function strangers(count: number): { hashes: number[]; announcements: ReturnType<typeof store>[] } {
  const hashes = range(1_000_000, count);
  return { hashes, announcements: hashes.map((hash) => store([hash], [hash, 0, 0, 0])) };
}

describe("Ghosts", () => {
  test("Ghosts may still be named as parents", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], FIRST_BLOCK), remove([11])]);
    expect(scene.changes(stream, 2, [store([12], SECOND_BLOCK, { parent: 11 })])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 0, deviceBlocks: 1 });
    scene.changes(stream, 3, [store([11], FIRST_BLOCK)]);
    expect(scene.prefixBlocks(stream, PROMPT)).toBe(2);
  });

  test("Ghosts return by a store without tokens", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], FIRST_BLOCK), remove([11])]);
    scene.changes(stream, 2, [storeKnown([11], "host")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 1, hostBlocks: 1 });
    expect(scene.writer.oddities.unknownStores).toBe(0);
  });

  test("Ghosts are not there for removals", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], FIRST_BLOCK), remove([11]), remove([11])]);
    expect(scene.writer.oddities.unknownRemovals).toBe(1);
  });

  test.each(["a state", "a clear"])("Ghosts are forgotten at %s", async (end) => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], FIRST_BLOCK), remove([11])]);
    if (end === "a state") scene.state(stream, 2, []);
    else scene.changes(stream, 2, [clear]);
    scene.changes(stream, 3, [storeKnown([11], "host")]);
    expect(scene.writer.oddities.unknownStores).toBe(1);
    const problem = scene.changes(stream, 4, [store([12], SECOND_BLOCK, { parent: 11 })]);
    expect(problem).toEqual(unsynchronized("unknown-parent", 4));
  });

  test(`Ghosts are ${GHOSTS_MAX} at most, the oldest is forgotten first`, async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const { hashes, announcements } = strangers(GHOSTS_MAX + 1);
    scene.changes(stream, 1, [...announcements, remove(hashes)]);
    scene.changes(stream, 2, [storeKnown(hashes, "host")]);
    expect(scene.writer.oddities.unknownStores).toBe(1);
    expect(scene.match(stream, [hashes[0], 0, 0, 0]).hostOnlyHitBlocks).toBe(0);
    expect(scene.match(stream, [hashes[1], 0, 0, 0]).hostOnlyHitBlocks).toBe(1);
  });

  test("Ghosts that came back stay when their turn to be forgotten comes", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    const { hashes, announcements } = strangers(GHOSTS_MAX + 1);
    scene.changes(stream, 1, [store([11], FIRST_BLOCK), remove([11])]);
    scene.changes(stream, 2, [storeKnown([11], "host"), ...announcements, remove(hashes)]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 1, hostBlocks: 1 });
  });

  test("Ghosts of other blocks outlive one that leaves and comes back all the time", async () => {
    const scene = await IndexScene.create();
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11], FIRST_BLOCK), remove([11])]);
    const leaveAndReturn = [store([21], SECOND_BLOCK), remove([21])];
    scene.changes(
      stream,
      2,
      range(0, GHOSTS_MAX).flatMap(() => leaveAndReturn),
    );
    expect(scene.changes(stream, 3, [store([12], SECOND_BLOCK, { parent: 11 })])).toBeNull();
  });

  test("Ghosts of one stream are none of another", async () => {
    const scene = await IndexScene.create();
    const [stream, other] = [scene.openSynchronized(0), scene.openSynchronized(1)];
    scene.changes(stream, 1, [store([11], FIRST_BLOCK), remove([11])]);
    scene.changes(other, 1, [storeKnown([11], "host")]);
    expect(scene.writer.oddities.unknownStores).toBe(1);
  });
});

import { describe, expect, test } from "bun:test";
import { type Unsynchronized, unsynchronized } from "#domain";
import type { WrittenStream } from "#index";
import { range, remove, store, storeKnown } from "./announcements.ts";
import { BLOCK_SIZE, IndexScene, leastBytes } from "./scene.ts";

const PAGE_BYTES = 65_536;
const PROMPT = range(1, 4 * BLOCK_SIZE);

describe("KvIndexWriter at the limit of blocks", () => {
  test("KvIndexWriter takes as many blocks as the limit, on as many tiers as they are", async () => {
    const scene = await IndexScene.create({ maxBlocksPerStream: 3 });
    const stream = scene.openSynchronized(0);
    expect(scene.changes(stream, 1, [store([11, 12, 13], PROMPT.slice(0, 12)), storeKnown([11, 12, 13], "host")])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ deviceHitBlocks: 3, hostBlocks: 3 });
  });

  test("KvIndexWriter makes a stream with one block too many unsynchronized until a state fits", async () => {
    const scene = await IndexScene.create({ maxBlocksPerStream: 3 });
    const [stream, other] = [scene.openSynchronized(0), scene.openSynchronized(1)];
    scene.changes(other, 1, [store([11], PROMPT.slice(0, 4))]);
    const problem = scene.changes(stream, 1, [store([11, 12, 13, 14], PROMPT)]);
    expect(problem).toEqual(unsynchronized("block-limit", 3));
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: problem, deviceHitBlocks: 0 });
    expect(scene.state(stream, 2, [store([11, 12, 13, 14], PROMPT)])).toEqual(unsynchronized("block-limit", 3));
    expect(scene.state(stream, 3, [store([11, 12], PROMPT.slice(0, 8))])).toBeNull();
    expect(scene.match(stream, PROMPT)).toMatchObject({ unsynchronized: null, deviceHitBlocks: 2 });
    expect(scene.prefixBlocks(other, PROMPT)).toBe(1);
  });

  test("KvIndexWriter counts the children of a removed parent towards the limit", async () => {
    const scene = await IndexScene.create({ maxBlocksPerStream: 3 });
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12, 13], PROMPT.slice(0, 12)), remove([11])]);
    expect(scene.changes(stream, 2, [store([21], range(101, 4))])).toBeNull();
    expect(scene.changes(stream, 3, [store([22], range(201, 4))])).toEqual(unsynchronized("block-limit", 3));
  });

  test("KvIndexWriter lets ghosts make room, the oldest first", async () => {
    const scene = await IndexScene.create({ maxBlocksPerStream: 3 });
    const stream = scene.openSynchronized(0);
    scene.changes(stream, 1, [store([11, 12, 13], PROMPT.slice(0, 12)), remove([12]), remove([11])]);
    expect(scene.changes(stream, 2, [store([21], range(101, 4))])).toBeNull();
    // 12 left first and is forgotten; 11 is a ghost still.
    scene.changes(stream, 3, [storeKnown([11, 12], "host")]);
    expect(scene.match(stream, PROMPT)).toMatchObject({ hostOnlyHitBlocks: 1, deviceBlocks: 2, hostBlocks: 1 });
    expect(scene.writer.oddities.unknownStores).toBe(1);
  });
});

/** An index with this many pages for its tables, beyond the one that each has from the start. */
async function createWithSparePages(pages: number): Promise<IndexScene> {
  const limits = { maxStreams: 4, maxBlocksPerStream: 100_000 };
  return IndexScene.create({ ...limits, maxBytes: (await leastBytes(limits)) + pages * PAGE_BYTES });
}

/** One batch of this many blocks, of contents and under hashes that only this stream has. */
function blocksOf(stream: WrittenStream, count: number): ReturnType<typeof store>[] {
  const first = stream.id * 1_000_000;
  return [store(range(first, count), range(first, count * BLOCK_SIZE))];
}

function holds(scene: IndexScene, stream: WrittenStream, count: number): boolean {
  return scene.prefixBlocks(stream, range(stream.id * 1_000_000, count * BLOCK_SIZE)) === count;
}

describe("KvIndexWriter at the limit of memory", () => {
  test("KvIndexWriter makes the stream that asks for too much unsynchronized and leaves the others", async () => {
    const scene = await createWithSparePages(12);
    const memoryLimit = unsynchronized("memory-limit", scene.handle.limits.maxBytes);
    const [greedy, modest] = [scene.openSynchronized(0), scene.openSynchronized(1)];
    scene.changes(modest, 1, blocksOf(modest, 500));
    expect(scene.changes(greedy, 1, blocksOf(greedy, 20_000))).toEqual(memoryLimit);
    expect(scene.match(greedy, [])).toMatchObject({ unsynchronized: memoryLimit });
    expect(holds(scene, modest, 500)).toBe(true);
    expect(scene.changes(modest, 2, [remove([1_000_000])])).toBeNull();
  });

  test("KvIndexWriter serves a stream again once another has given memory back", async () => {
    const scene = await createWithSparePages(12);
    const [stream, other] = [scene.openSynchronized(0), scene.openSynchronized(1)];
    expect(scene.changes(other, 1, blocksOf(other, 3000))).toBeNull();
    expect(scene.changes(stream, 1, blocksOf(stream, 3000))?.reason).toBe("memory-limit");
    scene.changes(other, 2, [(sink) => sink.allBlocksCleared()]);
    expect(scene.state(stream, 2, blocksOf(stream, 3000))).toBeNull();
    expect(holds(scene, stream, 3000)).toBe(true);
  });

  test("KvIndexWriter serves a stream again that had filled all memory itself, once its state is smaller", async () => {
    const scene = await createWithSparePages(12);
    const stream = scene.openSynchronized(0);
    expect(scene.changes(stream, 1, blocksOf(stream, 20_000))?.reason).toBe("memory-limit");
    expect(scene.state(stream, 2, blocksOf(stream, 3000))).toBeNull();
    expect(holds(scene, stream, 3000)).toBe(true);
  });

  test.each(["commit", "keep"] as const)(
    "KvIndexWriter stays whole wherever memory ends: in an event, at the %s",
    async (end) => {
      const ends = { event: 0, batch: 0 };
      for (let pages = 1; pages <= 24; pages++) {
        const scene = await createWithSparePages(pages);
        const bytesBefore = scene.writer.bytesInUse;
        const [stream, other] = [scene.openSynchronized(0), scene.openSynchronized(1)];
        expect(scene.changes(other, 1, blocksOf(other, 400))).toBeNull();
        for (let blocks = 300; blocks < 40_000; blocks = Math.ceil(blocks * 1.3)) {
          if (end === "keep") scene.writer.fail(stream, unsynchronized("disconnected"));
          scene.begin(stream, "state", blocks, blocksOf(stream, blocks));
          const eventProblem = scene.writer.problem;
          const ended = () => (end === "keep" ? scene.writer.keep(blocks) : scene.writer.commit(blocks, "full"));
          const problem: Unsynchronized | null = eventProblem ?? ended();
          if (problem === null) {
            if (end === "keep") scene.changes(stream, blocks, []);
            expect(holds(scene, stream, blocks)).toBe(true);
            continue;
          }
          ends[eventProblem === null ? "batch" : "event"]++;
          scene.writer.fail(stream, problem);
          expect(problem.reason).toBe("memory-limit");
          expect(scene.match(stream, range(0, BLOCK_SIZE))).toMatchObject({ unsynchronized: problem, deviceHitBlocks: 0 });
          expect(holds(scene, other, 400)).toBe(true);
        }
        scene.writer.closeStream(stream);
        scene.writer.closeStream(other);
        expect(scene.writer.bytesInUse).toBe(bytesBefore);
      }
      expect(ends.event).toBeGreaterThan(0);
      expect(ends.batch).toBeGreaterThan(0);
    },
  );
});

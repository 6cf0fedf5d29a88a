import { beforeEach, describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { createIndex, KvDirectory, KvIndexWriter } from "#index";
import { encodeBatch } from "#sim";
import { StreamIndex } from "#stream";
import { VllmDialect, XllmDialect } from "#wire";
import { NONE } from "../../src/stream/state.ts";
import { blocks, cleared, payload, REPLAYING_STREAM, removed, STREAM } from "./scene.ts";

let directory: KvDirectory;
let index: StreamIndex;

beforeEach(async () => {
  const handle = await createIndex({ maxStreams: 1, maxBlocksPerStream: 100 });
  index = new StreamIndex(0, STREAM, new KvIndexWriter(handle), new XllmDialect());
  index.open();
  directory = new KvDirectory(handle);
  directory.addStream(0, STREAM);
});

function status() {
  const matches = directory.match(0, null, null);
  if (matches === "busy") throw new Error("The index is busy");
  const [{ unsynchronized: problem, batchSeq, deviceBlocks }] = matches;
  return problem ?? { batchSeq, deviceBlocks };
}

const held = (batchSeq: number, ...events: Parameters<typeof payload>) => ({ batchSeq, payload: payload(...events) });

describe("StreamIndex", () => {
  test("StreamIndex adopts a snapshot and the batches after its watermark as one state", () => {
    const adoption = index.adoptSnapshot(7, payload(blocks(0, 2)), [
      held(7, cleared),
      held(8, blocks(2, 1)),
      held(9, blocks(3, 1)),
    ]);
    expect(adoption).toEqual({ kind: "adopted", batchSeq: 9, isEmpty: false });
    expect(status()).toEqual({ batchSeq: 9, deviceBlocks: 4 });
  });

  test("StreamIndex tells a snapshot that cannot be read from one that does not fit", () => {
    expect(index.adoptSnapshot(7, new Uint8Array([0xc1]), [])).toEqual({
      kind: "unreadable",
      problem: unsynchronized("snapshot-malformed"),
    });
    expect(index.adoptSnapshot(7, encodeBatch([], 3, 0), [])).toEqual({
      kind: "unreadable",
      problem: unsynchronized("wrong-rank", 3, 0),
    });
    expect(index.adoptSnapshot(7, payload(blocks(0, 101)), [])).toEqual({
      kind: "unfit",
      problem: unsynchronized("block-limit", 100),
    });
    expect(index.adoptSnapshot(7, payload(), [held(8, blocks(5, 1))])).toEqual({
      kind: "unfit",
      problem: unsynchronized("unknown-parent", 8),
    });
  });

  test("StreamIndex keeps the state it has when a snapshot cannot be adopted", () => {
    index.adoptSnapshot(7, payload(blocks(0, 2)), []);
    index.adoptSnapshot(8, new Uint8Array([0xc1]), []);
    expect(status()).toEqual({ batchSeq: 7, deviceBlocks: 2 });
    expect(index.apply(8, payload(blocks(2, 1)))).toBeNull();
    expect(status()).toEqual({ batchSeq: 8, deviceBlocks: 3 });
  });

  test("StreamIndex leaves out the descendants of a block that a snapshot lacks", () => {
    index.adoptSnapshot(7, payload(blocks(0, 1), blocks(2, 2)), []);
    expect(status()).toEqual({ batchSeq: 7, deviceBlocks: 1 });
    expect(index.skipped).toEqual({ orphan: 1 });
  });

  test("StreamIndex says that nothing was published yet, and then applies batch 0", () => {
    expect(index.adoptSnapshot(0, payload(), [])).toEqual({ kind: "adopted", batchSeq: 0, isEmpty: true });
    expect(index.adoptSnapshot(0, payload(), [held(0, blocks(0, 1))])).toEqual({ kind: "adopted", batchSeq: 0, isEmpty: false });
    expect(status()).toEqual({ batchSeq: 0, deviceBlocks: 1 });
  });

  test("StreamIndex does not apply batch 0 again where the watermark is beyond it, though the snapshot is empty", () => {
    const batches = [held(0, blocks(0, 1)), held(1, cleared), held(2)];
    expect(index.adoptSnapshot(1, payload(), batches)).toMatchObject({ kind: "adopted", batchSeq: 2 });
    expect(status()).toEqual({ batchSeq: 2, deviceBlocks: 0 });
  });

  test("StreamIndex does not go back to batch 0 where an empty snapshot is beyond it", () => {
    expect(index.adoptSnapshot(1, payload(), [held(0, blocks(0, 1))])).toMatchObject({ kind: "adopted", batchSeq: 1 });
    expect(status()).toEqual({ batchSeq: 1, deviceBlocks: 0 });
  });

  test("StreamIndex refuses a live batch of another rank and a broken one", () => {
    index.adoptSnapshot(7, payload(), []);
    expect(index.apply(8, encodeBatch([], 3, 0))).toEqual(unsynchronized("wrong-rank", 3, 0));
    expect(index.apply(8, new Uint8Array([0x93, 0]))).toEqual(unsynchronized("batch-malformed", 8));
  });

  test("StreamIndex counts bytes behind the end of a batch and ignores them", () => {
    index.adoptSnapshot(7, payload(), []);
    expect(index.apply(8, Uint8Array.of(...payload(blocks(0, 1)), 1, 2, 3))).toBeNull();
    expect(index.trailingBytes).toBe(3);
    expect(status()).toEqual({ batchSeq: 8, deviceBlocks: 1 });
  });

  test("StreamIndex hides everything at once, and a closed one says that it is closed", () => {
    index.adoptSnapshot(7, payload(blocks(0, 1)), []);
    index.hide(unsynchronized("gap", 8, 9));
    expect(status()).toEqual(unsynchronized("gap", 8, 9));
    index.close();
    expect(status()).toEqual(unsynchronized("closed"));
  });
});

describe("StreamIndex of an engine that counts copies", () => {
  const BROKEN = new Uint8Array([0xc1]);
  const AWAITED = unsynchronized("replay-awaited");

  beforeEach(async () => {
    const handle = await createIndex({ maxStreams: 1, maxBlocksPerStream: 5 });
    index = new StreamIndex(0, REPLAYING_STREAM, new KvIndexWriter(handle), new VllmDialect());
    index.open();
    directory = new KvDirectory(handle);
    directory.addStream(0, REPLAYING_STREAM);
    index.hide(AWAITED);
  });

  function coverage() {
    const matches = directory.match(0, null, null);
    if (matches === "busy") throw new Error("The index is busy");
    return matches[0].coverage;
  }

  test("StreamIndex applies batches out of sight, and shows them with those held", () => {
    expect(index.keep(0, payload(blocks(0, 1)))).toBeNull();
    expect(index.keep(1, payload(blocks(1, 1)))).toBeNull();
    expect(status()).toEqual(AWAITED);
    const adoption = index.showHeld(1, [held(1, blocks(1, 1)), held(2, removed(1, 1)), held(3, blocks(1, 1))]);
    expect(adoption).toEqual({ kind: "adopted", batchSeq: 3, isEmpty: false });
    expect(status()).toEqual({ batchSeq: 3, deviceBlocks: 2 });
    expect(coverage()).toBe("full");
  });

  test("StreamIndex tells that memory ended at the end of a batch out of sight", async () => {
    const memoryLimit = unsynchronized("memory-limit", 1);
    class FullWriter extends KvIndexWriter {
      override keep(): typeof memoryLimit {
        return memoryLimit;
      }
    }
    const writer = new FullWriter(await createIndex({ maxStreams: 1, maxBlocksPerStream: 5 }));
    const full = new StreamIndex(0, REPLAYING_STREAM, writer, new VllmDialect());
    full.open();
    expect(full.keep(0, payload(blocks(0, 1)))).toEqual(memoryLimit);
  });

  test("StreamIndex shows that it knows nothing", () => {
    expect(index.showHeld(NONE, [])).toEqual({ kind: "adopted", batchSeq: NONE, isEmpty: true });
    expect(status()).toEqual({ batchSeq: 0, deviceBlocks: 0 });
    expect(coverage()).toBe("partial");
  });

  test("StreamIndex covers everything since batch 0, and part of it once it has forgotten", () => {
    index.keep(0, payload(blocks(0, 2)));
    index.forget();
    index.showHeld(0, [held(1, blocks(0, 1))]);
    expect(status()).toEqual({ batchSeq: 1, deviceBlocks: 1 });
    expect(coverage()).toBe("partial");
  });

  test("StreamIndex passes over held batches that cannot be decoded, or that go above the limit of blocks", () => {
    index.keep(0, payload(blocks(0, 2)));
    const batches = [{ batchSeq: 1, payload: BROKEN }, held(2, blocks(0, 3)), held(3, blocks(3, 3)), held(4, blocks(0, 1))];
    expect(index.showHeld(0, batches)).toEqual({ kind: "adopted", batchSeq: 4, isEmpty: false });
    expect(status()).toEqual({ batchSeq: 4, deviceBlocks: 1 });
    expect(coverage()).toBe("partial");
  });

  test("StreamIndex refuses a batch out of sight that goes above the limit of blocks, and can forget it", () => {
    index.keep(0, payload(blocks(0, 3)));
    expect(index.keep(1, payload(blocks(3, 3)))).toEqual(unsynchronized("block-limit", 5));
    index.forget();
    expect(index.keep(2, payload(blocks(0, 4)))).toBeNull();
    index.showHeld(2, []);
    expect(status()).toEqual({ batchSeq: 2, deviceBlocks: 4 });
  });

  test("StreamIndex finds an unknown parent wrong where it covers everything, and leaves the store out where it does not", () => {
    index.keep(0, payload(blocks(0, 1)));
    index.showHeld(0, []);
    expect(index.apply(1, payload(blocks(3, 1)))).toEqual(unsynchronized("unknown-parent", 1));
    index.forget();
    index.showHeld(4, []);
    expect(index.apply(5, payload(blocks(3, 1), blocks(0, 1)))).toBeNull();
    expect(status()).toEqual({ batchSeq: 5, deviceBlocks: 1 });
    expect(index.skipped).toEqual({ "unknown-parent": 1 });
  });

  test("StreamIndex covers part since a store was left out, and everything again since AllBlocksCleared", () => {
    index.keep(0, payload(blocks(3, 1)));
    index.showHeld(0, []);
    expect(coverage()).toBe("partial");
    index.apply(1, payload(blocks(7, 1), cleared));
    expect(coverage()).toBe("full");
    index.apply(2, payload(cleared, { ...blocks(0, 1), blockSize: 1 } as ReturnType<typeof blocks>));
    expect(coverage()).toBe("partial");
  });

  test("StreamIndex adopts a batch that is a whole state, whatever it held before", () => {
    index.keep(7, payload(blocks(0, 2)));
    expect(index.adoptBatch(9, payload(blocks(0, 3), cleared, blocks(0, 1)))).toMatchObject({ kind: "adopted", batchSeq: 9 });
    expect(status()).toEqual({ batchSeq: 9, deviceBlocks: 1 });
    expect(coverage()).toBe("full");
  });

  test("StreamIndex does not mind which rank a batch names", () => {
    expect(index.keep(0, encodeBatch([blocks(0, 1)], 3, 0))).toBeNull();
  });

  test("StreamIndex knows the batch again that it read last, and no other", () => {
    expect(index.isLast(7, payload(blocks(0, 1)))).toBe(false);
    index.keep(7, payload(blocks(0, 1)));
    expect(index.isLast(7, payload(blocks(0, 1)))).toBe(true);
    expect(index.isLast(7, payload(blocks(0, 2)))).toBe(false);
    expect(index.isLast(8, payload(blocks(0, 1)))).toBe(false);
    index.showHeld(7, [held(8, blocks(1, 1))]);
    expect(index.isLast(8, payload(blocks(1, 1)))).toBe(true);
    index.apply(9, BROKEN);
    expect(index.isLast(9, BROKEN)).toBe(true);
    expect(index.isLast(8, payload(blocks(1, 1)))).toBe(false);
  });
});

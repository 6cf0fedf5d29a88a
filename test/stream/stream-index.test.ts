import { beforeEach, describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { createIndex, KvDirectory, KvIndexWriter } from "#index";
import { encodeBatch } from "#sim";
import { StreamIndex } from "#stream";
import { XllmDialect } from "#wire";
import { blocks, cleared, payload, STREAM } from "./scene.ts";

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
  const matches = directory.match(0, null);
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

import { beforeEach, describe, expect, test } from "bun:test";
import { blocks, cleared, removed, STREAM_WITHOUT_REPLAY, StreamScene } from "./scene.ts";

let scene: StreamScene;

beforeEach(async () => {
  scene = await StreamScene.create({}, STREAM_WITHOUT_REPLAY);
  scene.connect();
});

describe("EventStream without a replay endpoint", () => {
  test("EventStream asks for nothing, and knows nothing at first", () => {
    expect(scene.sockets.requests).toBe(0);
    expect(scene.answer).toBe("0: 0 of 0, in part");
  });

  test("EventStream begins with the next batch, whichever it is", () => {
    scene.batch(57, blocks(0, 2));
    scene.batch(58, blocks(2, 1));
    expect(scene.answer).toBe("58: 3 of 3, in part");
  });

  test("EventStream knows everything from batch 0 on", () => {
    scene.batch(0, blocks(0, 2));
    expect(scene.answer).toBe("0: 2 of 2");
  });

  test("EventStream knows everything from AllBlocksCleared on", () => {
    scene.batch(57, blocks(0, 2));
    scene.batch(58, blocks(2, 1), cleared, blocks(0, 1));
    expect(scene.answer).toBe("58: 1 of 1");
  });

  test("EventStream leaves out what continues a block that it does not know", () => {
    scene.batch(57, blocks(3, 2), blocks(0, 1));
    expect(scene.answer).toBe("57: 1 of 1, in part");
  });

  const ENDS = [
    ["a gap", 60, "60: 1 of 1, in part"],
    ["a lower batch", 9, "9: 1 of 1, in part"],
    ["batch 0 of a new process", 0, "0: 1 of 1"],
  ] as const;

  test.each(ENDS)("EventStream forgets everything at %s, and begins anew with that batch", (_what, batchSeq, answer) => {
    scene.batch(57, blocks(0, 3));
    scene.batch(batchSeq, blocks(0, 1));
    expect(scene.answer).toBe(answer);
  });

  test("EventStream forgets everything at a batch that cannot be decoded, and begins anew with the next", () => {
    scene.batch(57, blocks(0, 3));
    scene.bytes(58, new Uint8Array([0xc1]));
    expect(scene.answer).toBe("0: 0 of 0, in part");
    scene.batch(59, blocks(0, 1));
    expect(scene.answer).toBe("59: 1 of 1, in part");
  });

  test("EventStream forgets everything when the connection is lost", () => {
    scene.batch(57, blocks(0, 3));
    scene.disconnect();
    expect(scene.answer).toBe("the publisher disconnected");
    scene.connect();
    expect(scene.answer).toBe("0: 0 of 0, in part");
  });

  test("EventStream begins anew behind a batch that alone is above the limit of blocks", async () => {
    scene = await StreamScene.create({ maxBlocksPerStream: 5 }, STREAM_WITHOUT_REPLAY);
    scene.connect();
    scene.batch(57, blocks(0, 6));
    scene.batch(58, blocks(0, 2));
    expect(scene.answer).toBe("58: 2 of 2, in part");
  });

  test("EventStream ignores a batch that was sent twice", () => {
    scene.batch(57, blocks(0, 1));
    scene.batch(57, blocks(0, 1));
    scene.batch(58, removed(0, 1));
    expect(scene.answer).toBe("58: 0 of 0, in part");
    expect(scene.drops["repeated-batch"]).toBe(1);
  });

  test("EventStream counts the copies of a block: it leaves with the last of them", () => {
    scene.batch(0, blocks(0, 1), blocks(0, 1));
    scene.batch(1, removed(0, 1));
    expect(scene.answer).toBe("1: 1 of 1");
    scene.batch(2, removed(0, 1));
    expect(scene.answer).toBe("2: 0 of 0");
  });
});

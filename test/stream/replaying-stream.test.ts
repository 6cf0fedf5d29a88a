import { beforeEach, describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import { encodeBatch } from "#sim";
import { blocks, cleared, REPLAYING_STREAM, removed, StreamScene } from "./scene.ts";

const encodeRaw = (events: readonly unknown[]): Uint8Array => encode([0, events, 0]);
const BROKEN = new Uint8Array([0xc1]);
/** Of a process that was started again. */
const OTHER = [cleared];

let scene: StreamScene;

beforeEach(async () => {
  scene = await StreamScene.create({}, REPLAYING_STREAM);
});

/** Live and settled after batch 2, with blocks 0 to 2. */
function goLive(): void {
  scene.connect();
  scene.replay({ 0: [blocks(0, 1)], 1: [blocks(1, 1)], 2: [blocks(2, 1)] });
  scene.replay({});
  scene.advance(1000);
}

describe("EventStream with a replay, beginning", () => {
  beforeEach(() => scene.connect());

  test("EventStream asks from batch 0 and answers nothing before the end of the replay", () => {
    expect(scene.sockets.askedFrom).toBe(0);
    expect(scene.answer).toBe("waiting for the batches that the publisher still has");
    scene.replay({ 0: [blocks(0, 1)], 1: [blocks(1, 1)] }, false);
    expect(scene.answer).toBe("waiting for the batches that the publisher still has");
  });

  test("EventStream knows everything of a replay that reaches back to batch 0", () => {
    scene.replay({ 0: [blocks(0, 1)], 1: [blocks(1, 2)] });
    scene.replay({});
    expect(scene.answer).toBe("1: 3 of 3");
  });

  test("EventStream knows part of a replay that begins later, and all of it after AllBlocksCleared", () => {
    scene.replay({ 7: [blocks(0, 1)], 8: [blocks(1, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("8: 2 of 2, in part");
    scene.batch(9, cleared);
    expect(scene.answer).toBe("9: 0 of 0");
  });

  test("EventStream does not take the end marker for the end: a long answer has lost its last batches", () => {
    scene.replay({ 0: [blocks(0, 1)] });
    expect(scene.sockets.askedFrom).toBe(1);
    scene.replay({ 1: [blocks(1, 1)] });
    expect(scene.sockets.askedFrom).toBe(2);
    scene.replay({});
    expect(scene.answer).toBe("1: 2 of 2");
  });

  test("EventStream asks a publisher that always has one more batch 32 times, and then shows what it has", () => {
    for (let batchSeq = 0; batchSeq < 32; batchSeq++) scene.replay({ [batchSeq]: [] });
    expect(scene.sockets).toMatchObject({ requests: 32, isAsking: false });
    expect(scene.answer).toBe("31: 0 of 0");
  });

  test("EventStream applies the batches held behind the replay, and those that both bring once", () => {
    scene.batch(1, blocks(1, 1));
    scene.batch(2, blocks(2, 1));
    scene.replay({ 0: [blocks(0, 1)], 1: [blocks(1, 1)], 2: [blocks(2, 1)] });
    expect(scene.answer).toBe("2: 3 of 3");
    scene.batch(3, removed(2, 1));
    expect(scene.answer).toBe("3: 2 of 2");
  });

  test("EventStream drops a live batch that the replay has overtaken", () => {
    scene.replay({ 0: [blocks(0, 1)], 1: [blocks(1, 1)] });
    scene.batch(1, blocks(1, 1));
    scene.replay({});
    scene.batch(1, blocks(1, 1));
    expect(scene.answer).toBe("1: 2 of 2");
    expect(scene.drops["repeated-batch"]).toBe(2);
  });

  test("EventStream waits for batch 0 where nothing was published, and knows everything from there", () => {
    scene.replay({});
    expect(scene.answer).toBe("0: 0 of 0, in part");
    scene.batch(0, blocks(0, 2));
    expect(scene.answer).toBe("0: 2 of 2");
  });

  test("EventStream asks again where batch 0 was lost", () => {
    scene.replay({});
    scene.advance(1000);
    scene.batch(1, blocks(1, 1));
    expect(scene.answer).toBe("gap: batch 0 expected, batch 1 arrived");
    scene.replay({ 0: [blocks(0, 1)] });
    expect(scene.answer).toBe("1: 2 of 2");
  });

  test("EventStream ignores which rank a batch names", () => {
    scene.replay({ 0: encodeBatch([blocks(0, 1)], 7, 0) });
    scene.replay({});
    scene.bytes(1, encodeBatch([blocks(1, 1)], 3, 0));
    expect(scene.answer).toBe("1: 2 of 2");
  });
});

describe("EventStream with a replay that is not whole", () => {
  beforeEach(() => scene.connect());

  test("EventStream asks for a hole once more, and knows everything when it is filled", () => {
    scene.replay({ 0: [blocks(0, 1)], 2: [blocks(2, 1)] });
    expect(scene.sockets.askedFrom).toBe(1);
    scene.replay({ 1: [blocks(1, 1)], 2: [blocks(2, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("2: 3 of 3");
  });

  test("EventStream forgets what comes before a number that was never sent", () => {
    for (let time = 0; time < 2; time++) scene.replay({ 0: [blocks(0, 2)], 2: [blocks(0, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("2: 1 of 1, in part");
  });

  test("EventStream begins with the batches held where the replay does not reach them", () => {
    scene.batch(5, blocks(0, 1));
    for (let time = 0; time < 2; time++) scene.replay({ 0: [blocks(0, 2)] });
    expect(scene.answer).toBe("5: 1 of 1, in part");
  });

  test("EventStream passes over a batch that cannot be decoded even when replayed, and knows what comes after it", () => {
    scene.replay({ 0: [blocks(0, 2)], 1: BROKEN, 2: [blocks(0, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("2: 1 of 1, in part");
  });

  test("EventStream passes over a held batch that cannot be decoded", () => {
    scene.bytes(1, BROKEN);
    scene.batch(2, blocks(0, 1));
    scene.replay({ 0: [blocks(0, 2)] });
    expect(scene.answer).toBe("2: 1 of 1, in part");
  });

  test("EventStream passes over a batch with a removal that it cannot understand, for some block may be gone", () => {
    scene.replay({ 0: [blocks(0, 2)], 1: encodeRaw([["BlockRemoved", "no hashes"]]), 2: [blocks(0, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("2: 1 of 1, in part");
  });

  test("EventStream gets past a time at which the publisher held more blocks than the limit", async () => {
    scene = await StreamScene.create({ maxBlocksPerStream: 5 }, REPLAYING_STREAM);
    scene.connect();
    scene.replay({ 0: [blocks(0, 4)], 1: [blocks(4, 4)], 2: [removed(1, 7)], 3: [cleared, blocks(0, 2)] });
    scene.replay({});
    expect(scene.answer).toBe("3: 2 of 2");
  });

  test("EventStream goes on from where an answer was cut", () => {
    scene.replay({ 0: [blocks(0, 1)] }, false);
    scene.advance(2000);
    expect(scene.sockets.askedFrom).toBe(1);
    scene.replay({ 1: [blocks(1, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("1: 2 of 2");
  });

  test("EventStream takes what has come where the answer stays silent after that", () => {
    scene.replay({ 0: [blocks(0, 1)] }, false);
    scene.advance(4000);
    expect(scene.answer).toBe("0: 1 of 1");
  });

  test("EventStream says that no answer comes, and after the third time begins with the next live batch, whichever it is", () => {
    scene.advance(2000);
    expect(scene.answer).toBe("no answer to a replay request within replay_timeout_ms 2000");
    scene.advance(1000 + 2000 + 2000 + 2000);
    expect(scene.answer).toBe("0: 0 of 0, in part");
    scene.batch(57, blocks(0, 1));
    expect(scene.answer).toBe("57: 1 of 1, in part");
    scene.batch(58, blocks(1, 1));
    expect(scene.answer).toBe("58: 2 of 2, in part");
  });

  const BAD_REPLIES = [
    ["is malformed", { kind: "malformed" }, "the answer to a replay request is none"],
    ["is too large", { kind: "oversized" }, "a replayed batch is larger than max_message_bytes 10000"],
    ["is refused", { kind: "refused" }, "the replay endpoint refuses requests"],
  ] as const;

  test.each(BAD_REPLIES)(
    "EventStream says so when the answer %s, and goes on without it after the third time",
    (_what, reply, reason) => {
      for (let time = 0; time < 3; time++) {
        if (time > 0) scene.waitForRetry();
        scene.sockets.replies.push(reply);
        scene.pump();
        if (time < 2) expect(scene.answer).toBe(reason);
      }
      expect(scene.answer).toBe("0: 0 of 0, in part");
    },
  );

  test("EventStream does not spin where two publishers speak through one endpoint", () => {
    scene.replay({ 0: [blocks(0, 1)] }, false);
    const requestsBefore = scene.sockets.requests;
    for (let time = 0; time < 20; time++) {
      scene.batch(30 + time, blocks(0, 1));
      scene.batch(7, time % 2 === 0 ? cleared : removed(0, 1));
    }
    expect(scene.sockets.requests - requestsBefore).toBeLessThan(2);
    expect(scene.state.kind).toBe("waiting");
  });

  test("EventStream lets held batches go that are too many, and has them replayed", () => {
    let last = 0;
    while (scene.drops["held-batch"] === 0) scene.batch(++last, blocks(0, 50));
    scene.replay(Object.fromEntries(Array.from({ length: last + 1 }, (_, n) => [n, [blocks(0, 1)]])));
    scene.replay({});
    expect(scene.answer).toBe(`${last}: 1 of 1`);
  });
});

describe("EventStream with a replay, live", () => {
  beforeEach(goLive);

  test("EventStream asks from its last batch after a gap, and applies what was missing", () => {
    scene.batch(4, blocks(4, 1));
    expect(scene.answer).toBe("gap: batch 3 expected, batch 4 arrived");
    expect(scene.sockets.askedFrom).toBe(2);
    scene.replay({ 2: [blocks(2, 1)], 3: [blocks(3, 1)] });
    expect(scene.answer).toBe("4: 5 of 5");
  });

  test("EventStream knows its publisher again after hundreds of batches that it could not use", () => {
    scene.batch(4, blocks(4, 1));
    for (let batchSeq = 5; batchSeq < 600; batchSeq++) scene.batch(batchSeq);
    const missing = Array.from({ length: 598 }, (_, n) => [n + 2, n === 0 ? [blocks(2, 1)] : []]);
    scene.replay(Object.fromEntries(missing));
    while (scene.pump());
    scene.replay({});
    expect(scene.answer).toBe("599: 3 of 3");
  });

  test("EventStream forgets everything where the buffer does not reach back to its last batch", () => {
    scene.batch(9, blocks(0, 1));
    scene.replay({ 8: [blocks(0, 1)] });
    expect(scene.answer).toBe("9: 1 of 1, in part");
  });

  test("EventStream begins anew after a lower batch sequence", () => {
    scene.batch(0, blocks(0, 2));
    expect(scene.answer).toBe("publisher restarted: batch 0 arrived after batch 2");
    expect(scene.sockets.askedFrom).toBe(0);
    scene.replay({ 0: [blocks(0, 2)] });
    scene.replay({});
    expect(scene.answer).toBe("0: 2 of 2");
  });

  test("EventStream adopts the first batch of a process that begins with AllBlocksCleared and stores", () => {
    scene.batch(0, cleared, blocks(0, 1));
    expect(scene.answer).toBe("0: 1 of 1");
  });

  test("EventStream recovers from an unknown parent where it knows everything, and leaves the store out then", () => {
    scene.batch(3, blocks(9, 1));
    expect(scene.answer).toBe("batch 3 names a parent block that was never announced");
    expect(scene.sockets.askedFrom).toBe(0);
    scene.replay({ 0: [blocks(0, 1)], 1: [blocks(1, 1)], 2: [blocks(2, 1)], 3: [blocks(9, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("3: 3 of 3, in part");
    scene.batch(4, blocks(20, 1), blocks(3, 1));
    expect(scene.answer).toBe("4: 4 of 4, in part");
  });

  test("EventStream knows only part once a store had to be left out, until AllBlocksCleared", () => {
    scene.batch(3, { ...blocks(3, 1), blockSize: 1 } as ReturnType<typeof blocks>);
    expect(scene.answer).toBe("3: 3 of 3, in part");
    scene.batch(4, cleared, blocks(0, 1));
    expect(scene.answer).toBe("4: 1 of 1");
  });

  test("EventStream never asks for a check: a replay cannot be compared with the index", () => {
    const { requests } = scene.sockets;
    scene.advance(100_000);
    expect(scene.sockets.requests).toBe(requests);
  });
});

describe("EventStream with a replay, reconnecting", () => {
  beforeEach(() => {
    goLive();
    scene.disconnect();
    scene.connect();
  });

  test("EventStream keeps what it knows where the publisher repeats its last batch", () => {
    expect(scene.sockets.askedFrom).toBe(2);
    scene.replay({ 2: [blocks(2, 1)], 3: [blocks(3, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("3: 4 of 4");
  });

  test("EventStream shows nothing of what it knows before that is proven", () => {
    scene.batch(3, blocks(3, 1));
    expect(scene.answer).toBe("waiting for the batches that the publisher still has");
  });

  test("EventStream begins anew where another batch has the number of its last", () => {
    scene.replay({ 2: OTHER, 3: [blocks(3, 1)] });
    expect(scene.sockets.askedFrom).toBe(0);
    scene.replay({ 0: [], 1: [], 2: OTHER, 3: [blocks(0, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("3: 1 of 1");
  });

  test("EventStream begins anew where the publisher has not come so far", () => {
    scene.replay({});
    scene.replay({ 0: [blocks(0, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("0: 1 of 1");
  });

  test("EventStream begins anew after a lower live batch, which it holds", () => {
    scene.batch(1, blocks(1, 2));
    expect(scene.sockets.askedFrom).toBe(0);
    scene.replay({ 0: [blocks(0, 1)] });
    expect(scene.answer).toBe("1: 3 of 3");
  });

  test("EventStream is not misled by a live batch of the new process that it saw while it waited", () => {
    scene.sockets.replies.push({ kind: "malformed" });
    scene.pump();
    scene.batch(2, ...OTHER);
    scene.waitForRetry();
    scene.replay({ 2: OTHER });
    expect(scene.sockets.askedFrom).toBe(0);
  });

  test("EventStream shows nothing of the lost process to one that repeats only lower numbers and falls silent", () => {
    scene.replay({ 0: [], 1: [] }, false);
    scene.advance(2000);
    scene.replay({ 0: [], 1: [] }, false);
    scene.advance(60_000);
    expect(scene.answer).not.toContain("3 of 3");
  });

  test("EventStream does not hold a lower live batch that alone is above the limit", () => {
    scene.bytes(1, new Uint8Array(6000));
    scene.replay({ 0: [blocks(0, 1)], 1: [blocks(1, 1)] });
    scene.replay({});
    expect(scene.answer).toBe("1: 2 of 2");
  });
});

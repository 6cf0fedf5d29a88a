import { beforeEach, describe, expect, test } from "bun:test";
import { CurveUnavailableError } from "#wire";
import { NO_DESCRIPTORS } from "./fake-sockets.ts";
import { blocks, cleared, payload, StreamScene } from "./scene.ts";

let scene: StreamScene;

beforeEach(async () => {
  scene = await StreamScene.create();
});

describe("EventStream, beginning", () => {
  test("EventStream opens a subscriber and answers nothing until it has a snapshot", () => {
    expect(scene.sockets).toMatchObject({ subscribers: 1, requests: 0 });
    expect(scene.answer).toBe("not connected to the publisher yet");
    scene.connect();
    expect(scene.sockets.requests).toBe(1);
    expect(scene.answer).toBe("waiting for the engine's snapshot");
    scene.snapshot(7, blocks(0, 3));
    expect(scene.answer).toBe("7: 3 of 3");
  });

  test("EventStream tries again when no socket can be opened", async () => {
    scene.disconnect();
    scene.sockets.failure = NO_DESCRIPTORS;
    scene.connect();
    expect(scene.answer).toBe("cannot open a socket: errno 24");
    scene.waitForRetry();
    expect(scene.state).toMatchObject({ kind: "waiting" });
    scene.sockets.failure = null;
    scene.waitForRetry();
    scene.snapshot(7, blocks(0, 3));
    expect(scene.answer).toBe("7: 3 of 3");
  });

  test("EventStream says that handshakes are broken off while its subscriber goes on trying, and recovers at once", () => {
    scene.sockets.connections.push("handshake-broken-off", "handshake-broken-off");
    scene.pump();
    expect(scene.answer).toBe(
      "the event endpoint breaks off the handshake: nothing is behind it, or it demands CURVE and no curve_server_key is set",
    );
    expect(scene.sockets).toMatchObject({ subscribers: 1, isSubscriberOpen: true });
    scene.connect();
    scene.snapshot(7, blocks(0, 3));
    expect(scene.answer).toBe("7: 3 of 3");
  });

  test("EventStream says that a stream which is to be encrypted cannot be", () => {
    scene.sockets.failure = new CurveUnavailableError();
    scene.connect();
    expect(scene.answer).toBe("a curve_server_key is set, but the libzmq that is loaded has no CURVE");
    expect(scene.state).toMatchObject({ kind: "waiting" });
  });

  test("EventStream passes on an error that is no socket's", () => {
    scene.sockets.failure = new Error("broken");
    expect(() => scene.connect()).toThrow("broken");
  });
});

describe("EventStream, recovering", () => {
  beforeEach(() => scene.connect());

  test("EventStream applies the batches after the watermark and drops those up to it", () => {
    scene.batch(6, blocks(0, 1));
    scene.batch(7, blocks(1, 1));
    scene.batch(8, blocks(2, 1));
    scene.snapshot(7, blocks(0, 2));
    expect(scene.answer).toBe("8: 3 of 3");
    scene.batch(9, blocks(3, 1));
    expect(scene.answer).toBe("9: 4 of 4");
  });

  test("EventStream shows nothing of a snapshot before its end has come", () => {
    scene.sockets.replies.push({ kind: "snapshot", watermark: 7, payload: payload(blocks(0, 2)) });
    scene.pump();
    expect(scene.answer).toBe("waiting for the engine's snapshot");
  });

  test("EventStream keeps what it holds although the receive buffer is written to again", () => {
    const buffer = payload(blocks(0, 2));
    const live = payload(blocks(2, 1));
    scene.bytes(8, live);
    live.fill(0xc1);
    scene.sockets.replies.push({ kind: "snapshot", watermark: 7, payload: buffer });
    scene.pump();
    buffer.fill(0xc1);
    scene.sockets.replies.push({ kind: "end" });
    scene.pump();
    expect(scene.answer).toBe("8: 3 of 3");
  });

  test("EventStream gives up a snapshot without an end, and takes the next", () => {
    scene.sockets.replies.push({ kind: "snapshot", watermark: 7, payload: payload(blocks(0, 2)) });
    scene.pump();
    scene.advance(2000);
    expect(scene.answer).toBe("no complete snapshot within replay_timeout_ms 2000");
    expect(scene.sockets.isAsking).toBe(false);
    scene.advance(1000);
    expect(scene.sockets.requests).toBe(2);
    scene.snapshot(9, blocks(0, 4));
    expect(scene.answer).toBe("9: 4 of 4");
  });

  test("EventStream doubles the wait for each recovery that fails in a row", () => {
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      scene.advance(2000);
      const failedAtMs = scene.clock.nowMs();
      waits.push(scene.nextDeadlineMs - failedAtMs);
      scene.advance(waits[attempt]);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  const BAD_REPLIES = [
    ["is malformed", { kind: "malformed" }, "the snapshot cannot be decoded"],
    ["is too large", { kind: "oversized" }, "snapshot larger than max_message_bytes 10000"],
    ["is refused", { kind: "refused" }, "the replay endpoint refuses requests"],
    ["is denied to our key", { kind: "client-denied" }, "the replay endpoint denies Warmpath's own CURVE key"],
    [
      "would be encrypted",
      { kind: "mechanism-mismatch" },
      "the replay endpoint demands CURVE or a login, but no curve_server_key is set",
    ],
    ["ends before it began", { kind: "end" }, "the snapshot cannot be decoded"],
  ] as const;

  test.each(BAD_REPLIES)("EventStream says why when the reply %s", (_what, reply, reason) => {
    scene.sockets.replies.push(reply);
    scene.pump();
    expect(scene.answer).toBe(reason);
    scene.waitForRetry();
    scene.snapshot(9, blocks(0, 4));
    expect(scene.answer).toBe("9: 4 of 4");
  });

  test("EventStream refuses a snapshot that it cannot decode", () => {
    scene.sockets.replies.push({ kind: "snapshot", watermark: 7, payload: new Uint8Array([0xc1]) }, { kind: "end" });
    scene.pump();
    expect(scene.answer).toBe("the snapshot cannot be decoded");
  });

  test("EventStream refuses a snapshot whose batches cannot be decoded", () => {
    scene.bytes(8, new Uint8Array([0xc1]));
    scene.snapshot(7, blocks(0, 2));
    expect(scene.answer).toBe("batch 8 cannot be decoded");
  });

  test("EventStream holds no more than max_buffered_bytes", () => {
    for (let batchSeq = 1; scene.state.kind === "recovering"; batchSeq++) scene.batch(batchSeq, blocks(0, 50));
    expect(scene.answer).toBe("more live batches during recovery than max_buffered_bytes 5000");
  });

  test("EventStream counts what it costs to hold a batch, however small its payload is", () => {
    for (let batchSeq = 1; batchSeq <= 5000 && scene.state.kind === "recovering"; batchSeq++) {
      scene.bytes(batchSeq, new Uint8Array(0));
    }
    expect(scene.answer).toBe("more live batches during recovery than max_buffered_bytes 5000");
  });

  test("EventStream becomes synchronized by a full state without any snapshot", () => {
    scene.batch(12, cleared, blocks(0, 5));
    expect(scene.answer).toBe("12: 5 of 5");
    expect(scene.sockets.isAsking).toBe(false);
  });

  test("EventStream is not taken back by a full state that was sent twice", () => {
    const fullState = payload(cleared, blocks(0, 1));
    scene.snapshot(9, blocks(0, 1));
    scene.advance(1000);
    scene.bytes(10, fullState);
    scene.batch(11, blocks(1, 1));
    scene.batch(13, blocks(3, 1));
    expect(scene.state.kind).toBe("recovering");
    scene.bytes(10, fullState);
    expect(scene.state.kind).toBe("recovering");
    scene.snapshot(13, blocks(0, 4));
    expect(scene.answer).toBe("13: 4 of 4");
  });

  test("EventStream takes batch 0 of a publisher that counts from 0", () => {
    scene.snapshot(0);
    expect(scene.answer).toBe("0: 0 of 0");
    scene.batch(0, blocks(0, 1));
    expect(scene.answer).toBe("0: 1 of 1");
    scene.batch(1, blocks(1, 1));
    expect(scene.answer).toBe("1: 2 of 2");
  });
});

describe("EventStream, live", () => {
  beforeEach(() => scene.live(20, 3));

  test("EventStream never answers with stale hits after a gap, and recovers", () => {
    scene.batch(22, blocks(3, 1));
    expect(scene.answer).toBe("gap: batch 21 expected, batch 22 arrived");
    scene.batch(23, blocks(4, 1));
    scene.snapshot(22, blocks(0, 4));
    expect(scene.answer).toBe("23: 5 of 5");
  });

  test("EventStream ignores a batch that was sent twice", () => {
    scene.batch(21, blocks(3, 1));
    scene.batch(21, blocks(3, 1));
    expect(scene.answer).toBe("21: 4 of 4");
    expect(scene.drops["repeated-batch"]).toBe(1);
  });

  test("EventStream takes another batch under an old number for a restart", () => {
    scene.batch(20, blocks(7, 1));
    expect(scene.answer).toBe("publisher restarted: batch 20 arrived after batch 20");
  });

  test("EventStream becomes unsynchronized by a batch that does not fit, and by none of it", () => {
    scene.batch(21, blocks(3, 1), blocks(9, 1));
    expect(scene.answer).toBe("batch 21 names a parent block that was never announced");
    scene.snapshot(21, blocks(0, 4));
    expect(scene.answer).toBe("21: 4 of 4");
  });

  test("EventStream ignores messages of a topic that only begins like its own", () => {
    scene.sockets.messages.push({ kind: "foreign-topic" });
    scene.pump();
    expect(scene.answer).toBe("20: 3 of 3");
    expect(scene.drops["foreign-topic"]).toBe(1);
  });

  const STRAYS = [
    [{ kind: "malformed-frames", frames: 2 }, "a message of 2 frames is not topic, batch sequence, payload"],
    [{ kind: "oversized" }, "message larger than max_message_bytes 10000"],
  ] as const;

  test.each(STRAYS)("EventStream is not synchronized after %j, for that may have been a batch", (message, reason) => {
    scene.sockets.messages.push(message);
    scene.pump();
    expect(scene.answer).toBe(reason);
  });

  test("EventStream recovers below the limit of blocks", async () => {
    scene = await StreamScene.create({ maxBlocksPerStream: 5 });
    scene.live(20, 3);
    scene.batch(21, blocks(3, 3));
    expect(scene.answer).toBe("more blocks than max_blocks_per_stream 5");
    scene.snapshot(21, blocks(0, 6));
    expect(scene.answer).toBe("more blocks than max_blocks_per_stream 5");
    scene.waitForRetry();
    scene.snapshot(22, blocks(0, 5));
    expect(scene.answer).toBe("22: 5 of 5");
  });

  test("EventStream waits before it asks again when its state did not last", () => {
    scene.batch(22, blocks(3, 1));
    scene.snapshot(22, blocks(0, 4));
    scene.batch(24, blocks(5, 1));
    expect(scene.sockets.isAsking).toBe(false);
    scene.batch(25, blocks(6, 1));
    expect(scene.drops["batch-while-waiting"]).toBe(1);
    scene.advance(1000);
    scene.snapshot(25, blocks(0, 7));
    expect(scene.answer).toBe("25: 7 of 7");
  });

  test("EventStream logs each change once", () => {
    scene.logged.length = 0;
    scene.batch(22, blocks(3, 1));
    scene.snapshot(22, blocks(0, 4));
    expect(scene.logged.map(({ fields }) => fields)).toEqual([
      { instance: "10.0.0.5:8000", rank: 0, reason: "gap: batch 21 expected, batch 22 arrived" },
      { instance: "10.0.0.5:8000", rank: 0, batch_seq: 22 },
    ]);
  });

  test("EventStream takes its messages in turns, so that a flood leaves room for other streams", () => {
    for (let batchSeq = 21; batchSeq <= 90; batchSeq++) {
      scene.sockets.messages.push({ kind: "batch", batchSeq, payload: payload(blocks(0, 1)) });
    }
    expect(scene.pump()).toBe(true);
    expect(scene.answer).toBe("84: 3 of 3");
    expect(scene.pump()).toBe(false);
    expect(scene.answer).toBe("90: 3 of 3");
  });

  test("EventStream closes its sockets", () => {
    scene.disconnect();
    scene.connect();
    scene.close();
    expect(scene.sockets).toMatchObject({ isAsking: false, isSubscriberOpen: false });
  });
});

describe("EventStream, checking", () => {
  beforeEach(() => {
    scene.live(20, 3);
    scene.advance(30_000);
  });

  test("EventStream asks for a snapshot from time to time, and stays synchronized", () => {
    expect(scene.sockets).toMatchObject({ requests: 2, isAsking: true });
    expect(scene.answer).toBe("20: 3 of 3");
    scene.snapshot(20, blocks(0, 3));
    expect(scene.answer).toBe("20: 3 of 3");
    scene.advance(30_000);
    expect(scene.sockets.requests).toBe(3);
  });

  test("EventStream repairs a lost tail in one step", () => {
    scene.snapshot(22, blocks(0, 5));
    expect(scene.answer).toBe("22: 5 of 5");
    expect(scene.sockets.isAsking).toBe(false);
  });

  test("EventStream drops the batches that a check has overtaken, and applies the next", () => {
    scene.snapshot(22, blocks(0, 5));
    scene.batch(21, blocks(3, 1));
    scene.batch(22, blocks(4, 1));
    scene.batch(23, blocks(5, 1));
    expect(scene.answer).toBe("23: 6 of 6");
    expect(scene.drops["covered-batch"]).toBe(2);
  });

  test("EventStream applies what comes during a check to the index and to the snapshot", () => {
    scene.batch(21, blocks(3, 1));
    expect(scene.answer).toBe("21: 4 of 4");
    scene.snapshot(20, blocks(0, 3));
    expect(scene.answer).toBe("21: 4 of 4");
  });

  test("EventStream stays as it is when no snapshot comes", () => {
    scene.advance(2000);
    expect(scene.answer).toBe("20: 3 of 3");
    expect(scene.drops["failed-check"]).toBe(1);
    expect(scene.sockets.isAsking).toBe(false);
    scene.batch(21, blocks(3, 1));
    expect(scene.answer).toBe("21: 4 of 4");
  });

  test("EventStream stays as it is when the snapshot cannot be decoded", () => {
    scene.sockets.replies.push({ kind: "snapshot", watermark: 20, payload: new Uint8Array([0xc1]) }, { kind: "end" });
    scene.pump();
    expect(scene.answer).toBe("20: 3 of 3");
    scene.batch(21, blocks(3, 1));
    expect(scene.answer).toBe("21: 4 of 4");
  });
});

describe("EventStream, reconnecting", () => {
  beforeEach(() => scene.live(20, 3));

  test("EventStream answers nothing from the moment at which the publisher is gone", () => {
    scene.disconnect();
    expect(scene.answer).toBe("the publisher disconnected");
    scene.connect();
    scene.snapshot(20, blocks(0, 3));
    expect(scene.answer).toBe("20: 3 of 3");
  });

  test("EventStream discards what the lost connection left, and counts it", () => {
    scene.sockets.messages.push({ kind: "batch", batchSeq: 21, payload: payload(blocks(3, 1)) });
    scene.sockets.connections.push("disconnected", "connected");
    scene.pump();
    scene.snapshot(20, blocks(0, 1));
    expect(scene.answer).toBe("20: 1 of 1");
    expect(scene.drops["stale-message"]).toBe(1);
  });

  test("EventStream never adds a batch of the lost connection to the next process's snapshot, even if it comes late", () => {
    scene.disconnect();
    scene.batch(21, blocks(3, 1));
    scene.connect();
    scene.snapshot(20, blocks(0, 3));
    expect(scene.answer).toBe("20: 3 of 3");
  });

  test("EventStream drops the reply that the lost process still gave", () => {
    scene.advance(30_000);
    scene.sockets.connections.push("disconnected");
    scene.sockets.replies.push({ kind: "snapshot", watermark: 25, payload: payload(blocks(0, 9)) }, { kind: "end" });
    scene.pump();
    expect(scene.answer).toBe("the publisher disconnected");
  });

  const DEAD = [
    ["oversized", "message larger than max_message_bytes 10000"],
    ["refused", "the event endpoint refuses subscribers"],
    ["client-denied", "the event endpoint denies Warmpath's own CURVE key"],
    ["mechanism-mismatch", "the event endpoint demands CURVE or a login, but no curve_server_key is set"],
    ["handshake-failed", "the event endpoint refuses subscribers"],
  ] as const;

  test.each(DEAD)("EventStream replaces a subscriber that is dead: %s", (event, reason) => {
    scene.sockets.connections.push("disconnected", event);
    scene.pump();
    expect(scene.answer).toBe(reason);
    expect(scene.sockets.isSubscriberOpen).toBe(false);
    scene.waitForRetry();
    expect(scene.sockets).toMatchObject({ subscribers: 2, isSubscriberOpen: true });
    scene.connect();
    scene.snapshot(30, blocks(0, 4));
    expect(scene.answer).toBe("30: 4 of 4");
  });

  test("EventStream has a deadline whenever its sockets have one", () => {
    scene.sockets.dueAtMs = scene.clock.nowMs() + 5;
    expect(scene.nextDeadlineMs).toBe(scene.clock.nowMs() + 5);
  });
});

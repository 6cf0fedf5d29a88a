import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type FollowRules, type FollowState, follow, JOINING } from "../../src/client/lib/follow.ts";
import { FollowedPublisher } from "./followed-publisher.ts";

const REPLAY: FollowRules = { recovery: "replay", firstBatchSeq: 0, failuresMax: 3 };
const SNAPSHOT: FollowRules = { recovery: "snapshot", firstBatchSeq: 1, failuresMax: 3 };
const NONE: FollowRules = { recovery: "none", firstBatchSeq: 0, failuresMax: 3 };

const following = (nextBatchSeq: number | null, failures = 0): FollowState => ({ kind: "following", nextBatchSeq, failures });
const asking = (nextBatchSeq: number | null, heldBatchSeq: number | null, hasProgress = false): FollowState => ({
  kind: "asking",
  nextBatchSeq,
  failures: 0,
  heldBatchSeq,
  hasProgress,
});
const live = (batchSeq: number, isKnown = false) => ({ type: "live" as const, batchSeq, isKnown });
const replayed = (batchSeq: number, isKnown = false) => ({ type: "replayed" as const, batchSeq, isKnown });

describe("follow, live batches", () => {
  test("follow delivers batches in order from any number on", () => {
    expect(follow(following(null), live(7), REPLAY)).toEqual({ state: following(8), effects: [{ type: "deliver" }] });
    expect(follow(following(8), live(8), REPLAY)).toEqual({ state: following(9), effects: [{ type: "deliver" }] });
  });

  test("follow holds the batch behind a gap and asks from the first missing one", () => {
    expect(follow(following(5), live(8), REPLAY)).toEqual({
      state: asking(5, 8),
      effects: [{ type: "hold" }, { type: "ask", start: 5 }],
    });
  });

  test("follow tells a gap at once where nothing can be asked", () => {
    expect(follow(following(5), live(8), NONE)).toEqual({
      state: following(9),
      effects: [{ type: "tell-gap", from: 5, to: 7 }, { type: "deliver" }],
    });
  });

  test("follow drops the same bytes, and takes other bytes under an old number for a restart", () => {
    expect(follow(following(5), live(3, true), REPLAY)).toEqual({ state: following(5), effects: [{ type: "drop-repeat" }] });
    const restart = { type: "tell-restart" as const, lastBatchSeq: 4, foundBatchSeq: 0 };
    expect(follow(following(5), live(0), REPLAY)).toEqual({ state: following(1), effects: [restart, { type: "deliver" }] });
  });

  test("follow asks a restarted publisher for what it sent before it was heard", () => {
    expect(follow(following(5), live(3), REPLAY)).toEqual({
      state: asking(0, 3),
      effects: [{ type: "tell-restart", lastBatchSeq: 4, foundBatchSeq: 3 }, { type: "hold" }, { type: "ask", start: 0 }],
    });
  });

  test("follow takes a publisher that begins below the usual first number as it is", () => {
    expect(follow(following(5), live(0), SNAPSHOT).state).toEqual(following(1));
  });
});

describe("follow, connections", () => {
  test("follow asks for everything on joining, and goes on without where nothing can be asked", () => {
    expect(follow(JOINING, { type: "connected" }, REPLAY)).toEqual({
      state: asking(null, null),
      effects: [{ type: "ask", start: 0 }],
    });
    expect(follow(JOINING, { type: "connected" }, NONE)).toEqual({ state: following(null), effects: [] });
  });

  test("follow asks for the last batch again after a lost connection", () => {
    expect(follow(following(5), { type: "connected" }, REPLAY).effects).toEqual([{ type: "ask", start: 4 }]);
  });

  test("follow lets a request go on when the connection comes back meanwhile", () => {
    expect(follow(asking(5, 8), { type: "connected" }, REPLAY)).toEqual({ state: asking(5, 8), effects: [] });
  });
});

describe("follow, replays", () => {
  test("follow delivers a replay in order and then the held batch", () => {
    expect(follow(asking(5, 6), replayed(5), REPLAY)).toEqual({ state: asking(6, 6, true), effects: [{ type: "deliver" }] });
    expect(follow(asking(6, 6, true), { type: "ended" }, REPLAY)).toEqual({
      state: following(7),
      effects: [{ type: "deliver-held" }],
    });
  });

  test("follow drops the held batch when the replay has brought it", () => {
    expect(follow(asking(7, 6, true), { type: "ended" }, REPLAY)).toEqual({
      state: following(7),
      effects: [{ type: "drop-held" }],
    });
  });

  test("follow tells the hole that a replay begins with", () => {
    expect(follow(asking(5, 9), replayed(7), REPLAY).effects).toEqual([
      { type: "tell-gap", from: 5, to: 6 },
      { type: "deliver" },
    ]);
  });

  test("follow asks again for a hole in the middle of a replay, and for its lost tail", () => {
    expect(follow(asking(6, 9, true), replayed(8), REPLAY)).toEqual({
      state: asking(6, 9),
      effects: [{ type: "ask", start: 6 }],
    });
    expect(follow(asking(6, 9, true), { type: "ended" }, REPLAY)).toEqual({
      state: asking(6, 9),
      effects: [{ type: "ask", start: 6 }],
    });
  });

  test("follow gives up what an empty replay does not bring", () => {
    expect(follow(asking(5, 8), { type: "ended" }, REPLAY)).toEqual({
      state: following(9),
      effects: [{ type: "tell-gap", from: 5, to: 7 }, { type: "deliver-held" }],
    });
  });

  test("follow pauses after a failed request, asks again, and gives up after three in a row", () => {
    const first = follow(asking(5, 8), { type: "failed" }, REPLAY);
    expect(first).toEqual({
      state: { kind: "pausing", nextBatchSeq: 5, heldBatchSeq: 8, failures: 1 },
      effects: [{ type: "pause", failures: 1 }],
    });
    const again = follow(first.state, { type: "retry-due" }, REPLAY);
    expect(again.effects).toEqual([{ type: "ask", start: 5 }]);
    const last = follow({ ...asking(5, 8), failures: 2 } as FollowState, { type: "failed" }, REPLAY);
    expect(last).toEqual({
      state: following(9, 3),
      effects: [{ type: "tell-gap", from: 5, to: 7 }, { type: "deliver-held" }],
    });
  });

  test("follow tries a dead endpoint once for the next gap, and thrice again once it has answered", () => {
    const dead = { ...asking(5, 8), failures: 3 } as FollowState;
    expect(follow(dead, { type: "failed" }, REPLAY).state).toEqual(following(9, 4));
    expect(follow({ ...dead, hasProgress: true } as FollowState, { type: "failed" }, REPLAY).state.kind).toBe("pausing");
    expect(follow(dead, { type: "ended" }, REPLAY).state).toEqual(following(9));
  });

  test("follow finds a restart in a replay and drops the batch held from before", () => {
    expect(follow(asking(5, 8), replayed(4), REPLAY)).toEqual({
      state: asking(0, null),
      effects: [{ type: "tell-restart", lastBatchSeq: 4, foundBatchSeq: 4 }, { type: "drop-held" }, { type: "ask", start: 0 }],
    });
    expect(follow(asking(5, null), replayed(0), REPLAY)).toEqual({
      state: asking(1, null, true),
      effects: [{ type: "tell-restart", lastBatchSeq: 4, foundBatchSeq: 0 }, { type: "deliver" }],
    });
  });
});

describe("follow, snapshots", () => {
  const snapshot = (watermark: number) => ({ type: "snapshot" as const, watermark });

  test("follow delivers a snapshot in place of what is missing, and the held batch if it is newer", () => {
    expect(follow(asking(5, 8), snapshot(8), SNAPSHOT)).toEqual({
      state: following(9),
      effects: [{ type: "deliver" }, { type: "drop-held" }],
    });
    expect(follow(asking(5, 8), snapshot(7), SNAPSHOT).effects).toEqual([{ type: "deliver" }, { type: "deliver-held" }]);
  });

  test("follow asks again while snapshots get nearer, and gives up when they do not", () => {
    expect(follow(asking(5, 8), snapshot(5), SNAPSHOT).effects).toEqual([{ type: "deliver" }, { type: "ask", start: 6 }]);
    expect(follow(asking(6, 8), snapshot(5), SNAPSHOT).effects).toEqual([
      { type: "deliver" },
      { type: "tell-gap", from: 6, to: 7 },
      { type: "deliver-held" },
    ]);
  });

  test("follow takes a watermark below what was delivered for a restart", () => {
    expect(follow(asking(9, 12), snapshot(3), SNAPSHOT)).toEqual({
      state: following(4),
      effects: [{ type: "tell-restart", lastBatchSeq: 8, foundBatchSeq: 3 }, { type: "drop-held" }, { type: "deliver" }],
    });
  });
});

describe("follow against a publisher", () => {
  const numbers = (from: number, to: number, incarnation = 0) =>
    Array.from({ length: to - from + 1 }, (_, index) => `${incarnation}:${from + index}`);

  test("follow brings what was published before it joined and what it missed, in order and once", () => {
    const publisher = new FollowedPublisher(REPLAY);
    for (let count = 0; count < 3; count++) publisher.publish("lost");
    publisher.connect();
    publisher.publish();
    publisher.publish("lost");
    publisher.publish();
    publisher.repeat(2);
    expect(publisher.told).toEqual({ delivered: numbers(0, 5), gaps: [], restarts: 0 });
  });

  test("follow notices a restart by the last batch, although the new numbers go on where the old ones ended", () => {
    const publisher = new FollowedPublisher(REPLAY);
    publisher.connect();
    for (let count = 0; count < 3; count++) publisher.publish();
    publisher.restart();
    for (let count = 0; count < 4; count++) publisher.publish("lost");
    publisher.connect();
    expect(publisher.told).toEqual({ delivered: [...numbers(0, 2), ...numbers(0, 3, 1)], gaps: [], restarts: 1 });
  });

  test("follow goes on without a replay endpoint that is mute", () => {
    const publisher = new FollowedPublisher(REPLAY);
    publisher.isMute = true;
    publisher.connect();
    for (const fate of ["heard", "lost", "heard"] as const) publisher.publish(fate);
    expect(publisher.told).toEqual({ delivered: ["0:0", "0:2"], gaps: [[1, 1]], restarts: 0 });
    expect(publisher.asks).toBe(4); // three on joining, one for the gap
  });

  test("follow delivers each batch once and in order, or tells that it is missing, whatever is lost", () => {
    const fates = fc.array(fc.constantFrom("heard" as const, "lost" as const, "forgotten" as const), { maxLength: 40 });
    fc.assert(
      fc.property(fates, fc.array(fc.nat(40), { maxLength: 8 }), (published, replyLosses) => {
        const publisher = new FollowedPublisher(REPLAY);
        const lost = new Map<number, number>();
        for (const batchSeq of replyLosses) lost.set(batchSeq, (lost.get(batchSeq) ?? 0) + 1);
        publisher.isReplyLost = (batchSeq) => {
          const times = lost.get(batchSeq) ?? 0;
          lost.set(batchSeq, times - 1);
          return times > 0;
        };
        publisher.connect();
        for (const fate of published) publisher.publish(fate);
        publisher.publish(); // whatever was lost shows now
        const { delivered, gaps, restarts } = publisher.told;
        const known = delivered.map((bytes) => Number(bytes.split(":")[1]));
        const missing = gaps.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
        expect(restarts).toBe(0);
        expect(known).toEqual(known.toSorted((left, right) => left - right));
        const first = Math.min(...known);
        const all = [...known, ...missing].toSorted((left, right) => left - right);
        expect(all).toEqual(Array.from({ length: published.length + 1 - first }, (_, index) => first + index));
        for (const batchSeq of missing) expect(published[batchSeq] === "forgotten" || replyLosses.includes(batchSeq)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

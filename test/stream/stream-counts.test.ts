import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { NONE, type StreamEvent, type StreamState } from "../../src/stream/state.ts";
import { recoveryEnd, StreamCounts } from "../../src/stream/stream-counts.ts";
import { FakeClock } from "../support/fake-clock.ts";

const CONNECTING: StreamState = { kind: "connecting", attempt: 0, known: NONE };
const RECOVERING: StreamState = { kind: "recovering", attempt: 0, recovery: { held: null, watermark: null } };
const WAITING: StreamState = { kind: "waiting", attempt: 1, hasSubscriber: true, known: NONE };
const WITHOUT_SUBSCRIBER: StreamState = { ...WAITING, hasSubscriber: false };
const LIVE: StreamState = { kind: "live", attempt: 0, batchSeq: 5, accepts: "next", coveredAfter: null, check: null };
const CHECKING: StreamState = { ...LIVE, check: { held: null, watermark: null, checkedFrom: 5 } };

const ADOPTED: StreamEvent = { type: "adopted", batchSeq: 5, isEmpty: false };
const ANSWER_DUE: StreamEvent = { type: "timer", timer: "answer" };

describe("recoveryEnd", () => {
  test.each<[string, StreamState, StreamEvent, StreamState, ReturnType<typeof recoveryEnd>]>([
    ["a recovery that begins", CONNECTING, { type: "connected" }, RECOVERING, null],
    ["a recovery that goes on", RECOVERING, { type: "snapshot", watermark: 5 }, RECOVERING, null],
    ["a state that is adopted", RECOVERING, ADOPTED, LIVE, { kind: "snapshot", outcome: "completed" }],
    ["an answer that does not come", RECOVERING, ANSWER_DUE, WAITING, { kind: "snapshot", outcome: "failed" }],
    ["a publisher that goes", RECOVERING, { type: "disconnected" }, CONNECTING, { kind: "snapshot", outcome: "abandoned" }],
    [
      "a subscriber that dies",
      RECOVERING,
      { type: "subscriber-lost", problem: unsynchronized("not-a-publisher") },
      WITHOUT_SUBSCRIBER,
      { kind: "snapshot", outcome: "abandoned" },
    ],
    ["a batch in its turn", LIVE, { type: "batch", batchSeq: 6, bytes: 9, isRepeat: false, isFullState: false }, LIVE, null],
    ["a check that begins", LIVE, { type: "timer", timer: "resync" }, CHECKING, null],
    ["a check that goes on", CHECKING, { type: "snapshot", watermark: 5 }, CHECKING, null],
    ["a check that is adopted", CHECKING, ADOPTED, LIVE, { kind: "check", outcome: "completed" }],
    ["a check that is not answered", CHECKING, ANSWER_DUE, LIVE, { kind: "check", outcome: "failed" }],
    ["a state lost under a check", CHECKING, { type: "disconnected" }, CONNECTING, { kind: "check", outcome: "abandoned" }],
    ["a state that is lost", LIVE, { type: "disconnected" }, CONNECTING, null],
  ])("recoveryEnd judges %s", (_what, before, event, after, end) => {
    expect(recoveryEnd(before, event, after, "snapshot")).toEqual(end);
  });
});

describe("StreamCounts", () => {
  test("StreamCounts adds up the times without a state, the one under way included", () => {
    const clock = new FakeClock();
    const counts = new StreamCounts(clock, { recovery: "snapshot" });
    clock.advance(100);
    expect(counts.unsynchronizedMs).toBe(100);
    counts.status(null);
    clock.advance(1000);
    expect(counts.unsynchronizedMs).toBe(100);
    counts.status(unsynchronized("gap", 3, 5));
    clock.advance(10);
    counts.status(unsynchronized("snapshot-awaited"));
    clock.advance(10);
    expect(counts.unsynchronizedMs).toBe(120);
    counts.status(null);
    counts.status(null);
    clock.advance(1000);
    expect(counts.unsynchronizedMs).toBe(120);
  });

  test("StreamCounts counts problems by reason, and tells only of those that were", () => {
    const counts = new StreamCounts(new FakeClock(), { recovery: "snapshot" });
    for (const found of [3, 7]) counts.status(unsynchronized("gap", found, found + 2));
    counts.status(unsynchronized("disconnected"));
    expect(counts.problems).toEqual({ gap: 2, disconnected: 1 });
  });

  test.each([
    ["snapshot", "snapshot"],
    ["replay", "replay"],
    ["none", "anew"],
  ] as const)("StreamCounts calls a recovery by %s %s", (recovery, kind) => {
    const counts = new StreamCounts(new FakeClock(), { recovery });
    counts.moved(RECOVERING, ADOPTED, LIVE);
    counts.moved(RECOVERING, ANSWER_DUE, WAITING);
    counts.moved(RECOVERING, ANSWER_DUE, WAITING);
    expect(counts.recoveries).toEqual([
      { kind, outcome: "completed", count: 1 },
      { kind, outcome: "failed", count: 2 },
    ]);
  });
});

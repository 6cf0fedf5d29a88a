import { describe, expect, test } from "bun:test";
import { type UnsynchronizedReason, unsynchronized } from "#domain";
import { type Effect, NONE, type StreamEvent, type StreamState } from "../../src/stream/state.ts";
import { begin, transition } from "../../src/stream/transition.ts";
import { effectName } from "./effect-names.ts";
import { batch, check, connecting, held, LIMITS, live, PROBLEM, recovering, waiting } from "./states.ts";

const after = (state: StreamState, ...events: StreamEvent[]): StreamState =>
  events.reduce((current, event) => transition(current, event, LIMITS).state, state);

const effectsOf = (state: StreamState, event: StreamEvent): Effect[] => [...transition(state, event, LIMITS).effects];

/** Why the stream is not synchronized any more; null when nothing was said. */
function reasonAfter(state: StreamState, event: StreamEvent) {
  return effectsOf(state, event).find((effect) => effect.type === "unsynchronize")?.problem ?? null;
}

const ANSWER_END: StreamEvent = { type: "answer-end" };
const snapshot = (watermark: number): StreamEvent => ({ type: "snapshot", watermark });
const adopted = (batchSeq: number, isEmpty = false): StreamEvent => ({ type: "adopted", batchSeq, isEmpty });

describe("A stream that begins", () => {
  test("A stream opens a subscriber first and asks for a snapshot only when that is connected", () => {
    const { state, effects } = begin();
    expect(effects).toEqual([{ type: "open-subscriber" }]);
    expect(effectsOf(state, { type: "connected" }).map(effectName)).toContain("ask-snapshot");
  });

  test("A stream tells what it waits for once it is connected", () => {
    expect(reasonAfter(connecting(), { type: "connected" })).toEqual(unsynchronized("snapshot-awaited"));
  });
});

describe("A recovery", () => {
  const ADOPTIONS: [what: string, held: [number, number] | null, watermark: number, adopts: boolean][] = [
    ["no batch was held", null, 20, true],
    ["the batches held begin right after the watermark", [21, 25], 20, true],
    ["the batches held begin one too late", [22, 25], 20, false],
    ["the watermark is among the batches held", [15, 25], 20, true],
    ["the watermark is the last batch held", [15, 20], 20, true],
    ["the watermark is beyond the batches held", [15, 18], 20, true],
    ["nothing was published and nothing held", null, 0, true],
    ["a publisher that counts from 0 sent its first batch meanwhile", [0, 0], 0, true],
  ];

  test.each(ADOPTIONS)("A recovery when %s", (_what, run, watermark, adopts) => {
    const state = recovering({ held: run === null ? null : held(...run), watermark });
    const effects = effectsOf(state, ANSWER_END);
    if (adopts) expect(effects).toEqual([{ type: "adopt-snapshot", watermark }]);
    else expect(reasonAfter(state, ANSWER_END)).toEqual(unsynchronized("snapshot-behind", watermark, run?.[0]));
  });

  test("A recovery holds a run without a hole and counts its bytes", () => {
    const state = after(recovering(), batch(5), batch(6), batch(7));
    expect(state).toEqual(recovering({ held: held(5, 7) }));
  });

  test("A recovery lets go of the batches before a hole, which the snapshot must reach then", () => {
    expect(after(recovering(), batch(5), batch(6), batch(9))).toEqual(recovering({ held: held(9, 9) }));
    expect(effectsOf(recovering({ held: held(5, 6) }), batch(9))).toEqual([{ type: "release-held" }, { type: "hold-batch" }]);
  });

  test("A recovery is whole with a hole that the snapshot covers", () => {
    const state = after(recovering(), batch(5), batch(9), snapshot(8));
    expect(effectsOf(state, ANSWER_END)).toEqual([{ type: "adopt-snapshot", watermark: 8 }]);
  });

  test("A recovery holds up to the limit of bytes and fails beyond it", () => {
    const full = recovering({ held: { first: 1, last: 4, bytes: LIMITS.maxBufferedBytes - 10 } });
    expect(after(full, batch(5, { bytes: 10 })).kind).toBe("recovering");
    expect(reasonAfter(full, batch(5, { bytes: 11 }))).toEqual(unsynchronized("buffer-limit", LIMITS.maxBufferedBytes));
  });

  test("A recovery fails on a batch that goes back, for that is another process", () => {
    expect(reasonAfter(recovering({ held: held(15, 20) }), batch(18))).toEqual(unsynchronized("restart", 20, 18));
    expect(reasonAfter(recovering({ held: held(15, 20) }), batch(18, { isRepeat: true }))).toBeNull();
  });

  const FAILURES: [reason: UnsynchronizedReason, event: StreamEvent][] = [
    ["snapshot-timeout", { type: "timer", timer: "answer" }],
    ["snapshot-malformed", ANSWER_END],
    ["snapshot-oversized", { type: "request-failed", problem: unsynchronized("snapshot-oversized", 5) }],
    ["block-limit", { type: "adopt-failed", problem: unsynchronized("block-limit", 5) }],
    ["frames-malformed", { type: "message-malformed", problem: unsynchronized("frames-malformed", 2) }],
  ];

  test.each(FAILURES)("A recovery that fails with %s says so and is tried again", (reason, event) => {
    const { state, effects } = transition(recovering({}, 3), event, LIMITS);
    expect(state).toEqual({ kind: "waiting", attempt: 4, hasSubscriber: true, known: NONE });
    expect(reasonAfter(recovering({}, 3), event)?.reason).toBe(reason);
    expect(effects).toContainEqual({ type: "start-retry", attempt: 4 });
  });

  test("A recovery refuses a second snapshot, for it cannot tell which is true", () => {
    expect(reasonAfter(recovering({ watermark: 7 }), snapshot(8))).toEqual(unsynchronized("snapshot-malformed"));
  });
});

describe("A live stream", () => {
  test("A live stream applies batch after batch without another word", () => {
    const state = after(live(), batch(21), batch(22), batch(23));
    expect(state).toEqual(live({ batchSeq: 23 }));
    expect(effectsOf(live(), batch(21))).toEqual([{ type: "apply-batch" }]);
  });

  const BATCHES: [what: string, state: StreamState, event: StreamEvent, outcome: string][] = [
    ["a gap", live(), batch(22), "gap"],
    ["the same number with other bytes", live(), batch(20), "restart"],
    ["a lower number", live(), batch(1), "restart"],
    ["a repeat", live(), batch(20, { isRepeat: true }), "count repeated-batch"],
    ["an old repeat that is a full state", live(), batch(4, { isRepeat: true, isFullState: true }), "count repeated-batch"],
    ["a full state after a gap", live(), batch(30, { isFullState: true }), "adopt-batch"],
    ["the full state of a process that counts anew", live(), batch(1, { isFullState: true }), "adopt-batch"],
    ["a full state in order", live(), batch(21, { isFullState: true }), "apply-batch"],
    ["batch 0 where nothing was published", live({ batchSeq: 0, accepts: "next-or-zero" }), batch(0), "apply-batch"],
    ["batch 1 where nothing was published", live({ batchSeq: 0, accepts: "next-or-zero" }), batch(1), "apply-batch"],
    ["batch 0 where batch 0 was applied", live({ batchSeq: 0 }), batch(0), "restart"],
    ["a batch that the snapshot holds, soon after it", live({ coveredAfter: 17 }), batch(18), "count covered-batch"],
    ["a batch from before those that are expected", live({ coveredAfter: 17 }), batch(17), "restart"],
  ];

  test.each(BATCHES)("A live stream on %s", (_what, state, event, outcome) => {
    const [reason, first] = [reasonAfter(state, event)?.reason, effectsOf(state, event)[0]];
    expect(reason ?? effectName(first)).toBe(outcome);
  });

  test("A live stream expects covered batches in order and each once", () => {
    const state = after(live({ coveredAfter: 17 }), batch(18));
    expect(state).toEqual(live({ coveredAfter: 18 }));
    expect(reasonAfter(state, batch(18))).toEqual(unsynchronized("restart", 20, 18));
  });

  test("A live stream expects no covered batch behind the first in order", () => {
    expect(reasonAfter(after(live({ coveredAfter: 17 }), batch(21)), batch(18))).toEqual(unsynchronized("restart", 21, 18));
  });

  test("A live stream stays at the snapshot when a full state that the snapshot holds comes late", () => {
    const late = batch(18, { isFullState: true });
    expect(effectsOf(live({ coveredAfter: 17 }), late)).toEqual([{ type: "count", drop: "covered-batch" }]);
  });

  test("A live stream names the numbers of a gap and of a restart", () => {
    expect(reasonAfter(live(), batch(25))).toEqual(unsynchronized("gap", 21, 25));
    expect(reasonAfter(live(), batch(3))).toEqual(unsynchronized("restart", 20, 3));
  });

  test("A live stream that has settled asks at once after a gap", () => {
    const { state, effects } = transition(live(), batch(25), LIMITS);
    expect(state).toMatchObject({ kind: "recovering", attempt: 0 });
    expect(effects.map(effectName)).toContain("ask-snapshot");
  });

  test("A live stream does not hold the batch that ended it where that alone is above the limit", () => {
    const effects = effectsOf(live(), batch(25, { bytes: LIMITS.maxBufferedBytes + 1 }));
    expect(effects.map(effectName)).not.toContain("hold-batch");
  });

  test("A live stream that has not settled waits before it asks again", () => {
    const { state, effects } = transition(live({ attempt: 3 }), batch(25), LIMITS);
    expect(state).toEqual(waiting({ attempt: 3, known: 20 }));
    expect(effects).toContainEqual({ type: "start-retry", attempt: 3 });
    expect(effects.map(effectName)).not.toContain("ask-snapshot");
  });

  test("A live stream is settled when its state has lasted", () => {
    expect(after(live({ attempt: 3, coveredAfter: 17 }), { type: "timer", timer: "settle" })).toEqual(live());
  });

  test("A recovery that succeeds makes the next retry the first again, for as long as its state has not settled", () => {
    expect(after(recovering({}, 7), adopted(20))).toMatchObject({ kind: "live", attempt: 1 });
  });

  test("A live stream accepts batch 0 only after an empty snapshot of a publisher that never published", () => {
    expect(after(recovering(), adopted(0, true))).toMatchObject({ accepts: "next-or-zero" });
    expect(after(recovering(), adopted(0, false))).toMatchObject({ accepts: "next" });
    expect(after(recovering(), adopted(4, true))).toMatchObject({ accepts: "next" });
  });

  test("A live stream knows which batches its snapshot has overtaken", () => {
    expect(after(recovering({ held: held(15, 18) }), adopted(20))).toMatchObject({ batchSeq: 20, coveredAfter: 18 });
    expect(after(recovering(), adopted(20))).toMatchObject({ coveredAfter: -1 });
  });
});

describe("A check", () => {
  const RESYNC: StreamEvent = { type: "timer", timer: "resync" };

  test("A check asks while the stream stays synchronized, and remembers after which batch it asked", () => {
    expect(after(live(), RESYNC)).toEqual(live({ check: check() }));
    expect(reasonAfter(live(), RESYNC)).toBeNull();
  });

  test("A check holds the batches that are applied meanwhile, and adopts them with the snapshot", () => {
    const state = after(live(), RESYNC, batch(21), batch(22), snapshot(21));
    expect(state).toEqual(live({ batchSeq: 22, check: check({ held: held(21, 22), watermark: 21 }) }));
    expect(effectsOf(state, ANSWER_END)).toEqual([{ type: "adopt-snapshot", watermark: 21 }]);
    expect(after(state, ANSWER_END, adopted(22))).toEqual(live({ batchSeq: 22 }));
  });

  test("A check that finds a lost tail expects the batches up to its watermark", () => {
    const state = after(live(), RESYNC, snapshot(23), ANSWER_END, adopted(23));
    expect(state).toEqual(live({ batchSeq: 23, coveredAfter: 20 }));
    expect(effectsOf(state, batch(21))).toEqual([{ type: "count", drop: "covered-batch" }]);
  });

  const FAILURES: [what: string, event: StreamEvent, watermark: number | null][] = [
    ["does not come", { type: "timer", timer: "answer" }, null],
    ["cannot be decoded", { type: "request-failed", problem: PROBLEM }, null],
    ["comes twice", snapshot(21), 21],
    ["ends before it came", ANSWER_END, null],
  ];

  test.each(FAILURES)("A check leaves the stream as it was when the snapshot %s", (_what, event, watermark) => {
    const state = live({ check: check({ watermark }) });
    expect(after(state, event)).toEqual(live());
    expect(effectsOf(state, event).map(effectName)).toEqual([
      "end-recovery",
      "stop answer",
      "start resync",
      "count failed-check",
    ]);
  });

  test("A check that would hold too much is given up, and the batch is applied", () => {
    const state = live({ check: check() });
    const tooLarge = batch(21, { bytes: LIMITS.maxBufferedBytes + 1 });
    expect(after(state, tooLarge)).toEqual(live({ batchSeq: 21 }));
    expect(effectsOf(state, tooLarge)[0]).toEqual({ type: "apply-batch" });
  });

  test("A check whose watermark lies before what the engine had sent has reached another process", () => {
    const state = live({ check: check({ watermark: 4 }) });
    expect(reasonAfter(state, ANSWER_END)).toEqual(unsynchronized("restart", 20, 4));
  });

  test("A check that has reached another process says so also when batches came meanwhile", () => {
    const state = live({ batchSeq: 22, check: check({ watermark: 4, held: held(21, 22) }) });
    expect(reasonAfter(state, ANSWER_END)).toEqual(unsynchronized("restart", 20, 4));
  });

  test("A check whose batches do not fit its snapshot ends the synchronized state", () => {
    expect(reasonAfter(live({ check: check() }), { type: "adopt-failed", problem: PROBLEM })).toEqual(PROBLEM);
  });
});

describe("A stream that has lost its publisher", () => {
  const STATES: [name: string, state: StreamState][] = [
    ["connecting", connecting(2)],
    ["recovering", recovering({ held: held(1, 2) }, 2)],
    ["live", live({ attempt: 2, check: check() })],
    ["waiting", waiting({ attempt: 2 })],
  ];

  test.each(STATES)("A stream that is %s opens another subscriber after a while when its own is dead", (_name, state) => {
    const { state: next, effects } = transition(state, { type: "subscriber-lost", problem: PROBLEM }, LIMITS);
    expect(next).toMatchObject({ kind: "waiting", attempt: 3, hasSubscriber: false });
    expect(effects).toContainEqual({ type: "start-retry", attempt: 3 });
    const reopened = transition(next, { type: "timer", timer: "retry" }, LIMITS);
    expect(reopened.state).toMatchObject({ kind: "connecting", attempt: 3 });
    expect(reopened.effects).toEqual([{ type: "open-subscriber" }]);
  });

  test.each(STATES.slice(1))("A stream that is %s forgets its request when the connection is lost", (_name, state) => {
    const { state: next, effects } = transition(state, { type: "disconnected" }, LIMITS);
    expect(next).toMatchObject({ kind: "connecting", attempt: 2 });
    expect(effects.map(effectName)).toContain("end-recovery");
  });

  test("A stream that connects leaves to the snapshot what arrives before the connection is announced", () => {
    const { state, effects } = transition(connecting(), batch(57), LIMITS);
    expect(state).toEqual(connecting());
    expect(effects.map(effectName)).not.toContain("hold-batch");
  });
});

describe("A stream that waits", () => {
  test("A stream that waits keeps its reason until the next recovery has one", () => {
    expect(reasonAfter(waiting(), { type: "timer", timer: "retry" })).toBeNull();
  });

  test("A stream that waits takes a full state at once", () => {
    const { state, effects } = transition(waiting({ attempt: 4 }), batch(9, { isFullState: true }), LIMITS);
    expect(state).toEqual(recovering({}, 4));
    expect(effects).toEqual([{ type: "stop-timer", timer: "retry" }, { type: "adopt-batch" }]);
  });
});

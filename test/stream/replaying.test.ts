import { describe, expect, test } from "bun:test";
import { type UnsynchronizedReason, unsynchronized } from "#domain";
import { NONE, type StreamEvent, type StreamState } from "../../src/stream/state.ts";
import { transition } from "../../src/stream/transition.ts";
import { effectName } from "./effect-names.ts";
import { batch, held, live, PROBLEM, REPLAY_LIMITS, replaying, waiting } from "./states.ts";

const run = (state: StreamState, event: StreamEvent) => transition(state, event, REPLAY_LIMITS);
const effectsOf = (state: StreamState, event: StreamEvent): string[] => run(state, event).effects.map(effectName);
const replayed = (batchSeq: number, isKnown = false): StreamEvent => ({ type: "replayed", batchSeq, isKnown });

describe("A replay", () => {
  const WITHOUT_PROOF: [what: string, event: StreamEvent][] = [
    ["the batch at hand continues those held", batch(23)],
    ["a live batch comes later", batch(25)],
    ["its answer brings only earlier batches", replayed(19)],
  ];

  test.each(WITHOUT_PROOF)(
    "A replay shows nothing of a process that has not proven to be the one known, though %s",
    (_what, event) => {
      const state = replaying({ isProven: false, held: held(21, 22) });
      const { state: next, effects } = run(state, event);
      expect(next).toMatchObject({ kind: "replaying", isProven: false });
      expect(effects.map(effectName)).not.toContain("show-held");
    },
  );

  test("A replay that is proven shows the batches held at once where they follow", () => {
    expect(effectsOf(replaying({ isProven: false, held: held(21, 22) }), replayed(20, true))).toEqual(["show-held"]);
    expect(effectsOf(replaying({ isProven: false, held: held(22, 22) }), replayed(20, true))).toEqual([]);
  });

  test("A replay asks for the last batch known, not for the one after it", () => {
    expect(run(live(), batch(25)).effects).toContainEqual({ type: "ask-replay", from: 20 });
    expect(run(waiting({ known: 20 }), { type: "timer", timer: "retry" }).effects).toContainEqual({
      type: "ask-replay",
      from: 20,
    });
    expect(run(live(), batch(3)).effects).toContainEqual({ type: "ask-replay", from: 0 });
  });

  test("A replay asks for what is missing once more, from the hole on", () => {
    const { state, effects } = run(replaying(), replayed(23));
    expect(state).toMatchObject({ position: 20, hole: 21, requests: 2 });
    expect(effects).toContainEqual({ type: "ask-replay", from: 21 });
  });

  test("A replay whose every batch is behind a hole asks 32 times in all, and goes through to the end", () => {
    let state: StreamState = replaying();
    let asked = 0;
    for (let batchSeq = 22; batchSeq < 1000; batchSeq += 2) {
      for (let time = 0; time < 2 && state.kind === "replaying" && state.position < batchSeq; time++) {
        const { state: next, effects } = run(state, replayed(batchSeq));
        asked += effects.filter(({ type }) => type === "ask-replay").length;
        state = next;
      }
    }
    expect(asked).toBe(31);
    expect(state).toMatchObject({ kind: "replaying", position: 998 });
  });

  test("A replay counts as answered only by what brings it on", () => {
    expect(run(replaying(), replayed(15)).state).toEqual(replaying());
    expect(run(replaying(), replayed(21)).state).toEqual(replaying({ position: 21, answered: "now" }));
  });

  const KEPT: [reason: UnsynchronizedReason, event: StreamEvent][] = [
    ["replay-timeout", { type: "timer", timer: "answer" }],
    ["replay-oversized", { type: "request-failed", problem: unsynchronized("replay-oversized", 5) }],
    ["frames-malformed", { type: "message-malformed", problem: unsynchronized("frames-malformed", 2) }],
  ];

  test.each(KEPT)("A replay that fails with %s keeps its place, and is tried again", (reason, event) => {
    const { state, effects } = run(replaying(), event);
    expect(state).toEqual(waiting({ known: 20 }));
    expect(effects.find((effect) => effect.type === "unsynchronize")?.problem.reason).toBe(reason);
  });

  const LOST: [what: string, event: StreamEvent][] = [
    ["the index could not take a batch", { type: "replay-apply-failed", problem: PROBLEM }],
    ["the index could not take a batch held", { type: "adopt-failed", problem: PROBLEM }],
    ["a live batch goes back", batch(3)],
  ];

  test.each(LOST)("A replay begins from nothing the next time where %s", (_what, event) => {
    expect(run(replaying(), event).state).toEqual(waiting({ known: NONE }));
  });

  test("A replay that ends without any batch waits for batch 0, and for any batch where nothing could be asked for", () => {
    const adopted: StreamEvent = { type: "adopted", batchSeq: NONE, isEmpty: true };
    const ended = run(replaying({ position: NONE }), { type: "answer-end" });
    expect(run(ended.state, adopted).state).toMatchObject({ kind: "live", accepts: "next" });
    const silent = run(replaying({ position: NONE, attempt: 2 }), { type: "timer", timer: "answer" });
    expect(run(silent.state, adopted).state).toMatchObject({ kind: "live", accepts: "any" });
  });
});

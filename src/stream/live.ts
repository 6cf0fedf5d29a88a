/**
 * The synchronized state: batches in order are applied at once; anything else ends it. Now and then a fresh snapshot is
 * compared with the index while the stream stays synchronized (a check), which repairs a tail that was lost unseen.
 */

import { type Unsynchronized, unsynchronized } from "#domain";
import { beginRecovery, hold, loseConnection, loseSubscriber, STAY } from "./moves.ts";
import { adoptWhenWhole } from "./recovery.ts";
import type { Effect, Held, Live, StreamEvent, Timer, Transition, TransitionLimits } from "./state.ts";

type Batch = StreamEvent & { type: "batch" };

const APPLY: readonly Effect[] = [{ type: "apply-batch" }];
const COVERED: readonly Effect[] = [{ type: "count", drop: "covered-batch" }];
const ADOPT: readonly Effect[] = [{ type: "adopt-batch" }];

const END_CHECK: readonly Effect[] = [
  { type: "end-recovery" },
  { type: "stop-timer", timer: "snapshot" },
  { type: "start-timer", timer: "resync" },
];

export function inLive(state: Live, event: StreamEvent, limits: TransitionLimits): Transition {
  switch (event.type) {
    case "batch":
      return onBatch(state, event, limits);
    case "batch-failed":
    case "adopt-failed":
    case "message-malformed":
      return desynchronize(state, event.problem, null);
    case "disconnected":
      return loseConnection(state.attempt);
    case "subscriber-lost":
      return loseSubscriber(state.attempt, event.problem);
    case "snapshot":
    case "snapshot-end":
    case "snapshot-failed":
      return state.check === null ? STAY(state) : onCheck(state, event);
    case "adopted":
      return onAdopted(state, event.batchSeq);
    case "timer":
      return onTimer(state, event.timer);
    case "connected":
      return STAY(state);
  }
}

function onBatch(state: Live, batch: Batch, limits: TransitionLimits): Transition {
  const { batchSeq, acceptsZero, coveredAfter } = state;
  if (batch.batchSeq === batchSeq + 1 || (acceptsZero && batch.batchSeq === 0)) return applyNext(state, batch, limits);
  if (batch.batchSeq <= batchSeq && batch.isRepeat) return { state, effects: [{ type: "count", drop: "repeated-batch" }] };
  if (batch.batchSeq <= batchSeq && coveredAfter !== null && batch.batchSeq > coveredAfter) {
    return { state: { ...state, coveredAfter: batch.batchSeq }, effects: COVERED };
  }
  if (batch.isFullState) return { state, effects: ADOPT };
  const problem =
    batch.batchSeq > batchSeq
      ? unsynchronized("gap", batchSeq + 1, batch.batchSeq)
      : unsynchronized("restart", batchSeq, batch.batchSeq);
  return desynchronize(state, problem, hold(null, batch, limits));
}

/** During a check the batch is also held, to be applied to the snapshot; a check that would hold too much is given up. */
function applyNext(state: Live, batch: Batch, limits: TransitionLimits): Transition {
  const next: Live = { ...state, batchSeq: batch.batchSeq, acceptsZero: false, coveredAfter: null };
  if (state.check === null) return { state: next, effects: APPLY };
  const held = hold(state.check.held, batch, limits);
  if (held === null) return failCheck(next, APPLY);
  return { state: { ...next, check: { ...state.check, held } }, effects: [...APPLY, { type: "hold-batch" }] };
}

/**
 * `held` is the batch that ended it, if it is one to keep: the snapshot may lie before it. One too large to be held is not
 * missed, since the snapshot is asked for after it was sent. A state that has lasted is recovered at once; one that has not
 * waits, so that a stream that keeps failing does not spin.
 */
function desynchronize(state: Live, problem: Unsynchronized, held: Held | null): Transition {
  const stop: readonly Effect[] = [
    { type: "end-recovery" },
    { type: "stop-timer", timer: "snapshot" },
    { type: "stop-timer", timer: "resync" },
    { type: "stop-timer", timer: "settle" },
  ];
  if (state.attempt > 0) {
    return {
      state: { kind: "waiting", attempt: state.attempt, hasSubscriber: true },
      effects: [{ type: "unsynchronize", problem }, ...stop, { type: "start-retry", attempt: state.attempt }],
    };
  }
  const recovering = beginRecovery(0, problem);
  if (held === null) return { state: recovering.state, effects: [...stop, ...recovering.effects] };
  return {
    state: { kind: "recovering", attempt: 0, recovery: { held, watermark: null } },
    effects: [...stop, ...recovering.effects, { type: "hold-batch" }],
  };
}

/** After a check whose snapshot was ahead, the batches up to its watermark are still on their way. */
function onAdopted(state: Live, batchSeq: number): Transition {
  const next: Live = { ...state, batchSeq, acceptsZero: false, check: null };
  if (state.check === null || batchSeq <= state.batchSeq) return { state: next, effects: END_CHECK };
  return { state: { ...next, coveredAfter: state.batchSeq }, effects: [...END_CHECK, { type: "start-timer", timer: "settle" }] };
}

function onTimer(state: Live, timer: Timer): Transition {
  switch (timer) {
    case "resync":
      return {
        state: { ...state, check: { held: null, watermark: null, checkedFrom: state.batchSeq } },
        effects: [{ type: "ask-snapshot" }, { type: "start-timer", timer: "snapshot" }],
      };
    case "settle":
      return STAY({ ...state, attempt: 0, coveredAfter: null });
    case "snapshot":
      return state.check === null ? STAY(state) : failCheck(state, []);
    case "retry":
      return STAY(state);
  }
}

function onCheck(state: Live, event: StreamEvent & { type: "snapshot" | "snapshot-end" | "snapshot-failed" }): Transition {
  const { check } = state;
  if (check === null || event.type === "snapshot-failed") return failCheck(state, []);
  if (event.type === "snapshot") {
    if (check.watermark !== null) return failCheck(state, []);
    return { state: { ...state, check: { ...check, watermark: event.watermark } }, effects: [{ type: "keep-snapshot" }] };
  }
  // The engine was asked after it had sent batch `checkedFrom`: a watermark before that is another process's.
  if (check.watermark !== null && check.watermark < check.checkedFrom) {
    return desynchronize(state, unsynchronized("restart", check.checkedFrom, check.watermark), null);
  }
  const outcome = adoptWhenWhole(check);
  return outcome.type === "fail" ? failCheck(state, []) : { state, effects: [outcome] };
}

/** The index is as good as it was; the next check comes in its time. */
function failCheck(state: Live, first: readonly Effect[]): Transition {
  return { state: { ...state, check: null }, effects: [...first, ...END_CHECK, { type: "count", drop: "failed-check" }] };
}

/**
 * The synchronized state: batches in order are applied at once; anything else ends it. Now and then a fresh snapshot is
 * compared with the index while the stream stays synchronized (a check), which repairs a tail that was lost unseen.
 */

import { type Unsynchronized, unsynchronized } from "#domain";
import { beginRecovery, hold, loseConnection, loseSubscriber, type RecoveryStart, STAY } from "./moves.ts";
import { adoptWhenWhole } from "./recovering.ts";
import { type Effect, type Live, NONE, type StreamEvent, type Timer, type Transition, type TransitionLimits } from "./state.ts";

type Batch = StreamEvent & { type: "batch" };

const APPLY: readonly Effect[] = [{ type: "apply-batch" }];
const COVERED: readonly Effect[] = [{ type: "count", drop: "covered-batch" }];
const ADOPT: readonly Effect[] = [{ type: "adopt-batch" }];

const STOP: readonly Effect[] = [
  { type: "end-recovery" },
  { type: "stop-timer", timer: "answer" },
  { type: "stop-timer", timer: "resync" },
  { type: "stop-timer", timer: "settle" },
];

/** Only a snapshot can be compared with the index. */
function endCheck({ recovery }: TransitionLimits): readonly Effect[] {
  const ending: Effect[] = [{ type: "end-recovery" }, { type: "stop-timer", timer: "answer" }];
  return recovery === "snapshot" ? [...ending, { type: "start-timer", timer: "resync" }] : ending;
}

export function inLive(state: Live, event: StreamEvent, limits: TransitionLimits): Transition {
  const { attempt, batchSeq } = state;
  switch (event.type) {
    case "batch":
      return onBatch(state, event, limits);
    case "message-malformed":
      return desynchronize(state, { attempt, problem: event.problem, known: batchSeq }, limits);
    case "batch-failed":
    case "adopt-failed":
      // Part of the batch may be in the index: what that holds is no state of the publisher.
      return desynchronize(state, { attempt, problem: event.problem, known: NONE }, limits);
    case "disconnected":
      return loseConnection(attempt, batchSeq);
    case "subscriber-lost":
      return loseSubscriber(attempt, event.problem, batchSeq);
    case "snapshot":
    case "answer-end":
    case "request-failed":
      return state.check === null ? STAY(state) : onCheck(state, event, limits);
    case "adopted":
      return onAdopted(state, event.batchSeq, limits);
    case "timer":
      return onTimer(state, event.timer, limits);
    case "replayed":
    case "replay-applied":
    case "replay-apply-failed":
    case "connected":
    case "handshake-broken-off":
      return STAY(state);
  }
}

function onBatch(state: Live, batch: Batch, limits: TransitionLimits): Transition {
  const { attempt, batchSeq, coveredAfter } = state;
  if (isNext(state, batch)) return applyNext(state, batch, limits);
  if (batch.batchSeq <= batchSeq && batch.isRepeat) return { state, effects: [{ type: "count", drop: "repeated-batch" }] };
  if (batch.batchSeq <= batchSeq && coveredAfter !== null && batch.batchSeq > coveredAfter) {
    return { state: { ...state, coveredAfter: batch.batchSeq }, effects: COVERED };
  }
  if (batch.isFullState) return { state, effects: ADOPT };
  const isGap = batch.batchSeq > batchSeq;
  const problem = isGap
    ? unsynchronized("gap", batchSeq + 1, batch.batchSeq)
    : unsynchronized("restart", batchSeq, batch.batchSeq);
  return desynchronize(state, { attempt, problem, known: isGap ? batchSeq : NONE, held: hold(null, batch, limits) }, limits);
}

function isNext({ batchSeq, accepts }: Live, batch: Batch): boolean {
  switch (accepts) {
    case "next":
      return batch.batchSeq === batchSeq + 1;
    case "next-or-zero":
      return batch.batchSeq === batchSeq + 1 || batch.batchSeq === 0;
    case "any":
      return true;
  }
}

/** During a check the batch is also held, to be applied to the snapshot; a check that would hold too much is given up. */
function applyNext(state: Live, batch: Batch, limits: TransitionLimits): Transition {
  const next: Live = { ...state, batchSeq: batch.batchSeq, accepts: "next", coveredAfter: null };
  if (state.check === null) return { state: next, effects: APPLY };
  const held = hold(state.check.held, batch, limits);
  if (held === null) return failCheck(next, APPLY, limits);
  return { state: { ...next, check: { ...state.check, held } }, effects: [...APPLY, { type: "hold-batch" }] };
}

/**
 * The batch that ended it is held if it is one to keep: the answer may lie before it. One too large to be held is not missed,
 * since the engine is asked after it was sent. A state that has lasted is recovered at once; one that has not waits, so that a
 * stream that keeps failing does not spin. Where nothing is asked for there is nothing to wait for.
 */
function desynchronize(state: Live, start: RecoveryStart & { problem: Unsynchronized }, limits: TransitionLimits): Transition {
  const { attempt, problem, known } = start;
  if (state.attempt > 0 && limits.recovery !== "none") {
    return {
      state: { kind: "waiting", attempt, hasSubscriber: true, known },
      effects: [{ type: "unsynchronize", problem }, ...STOP, { type: "start-retry", attempt }],
    };
  }
  const { state: next, effects } = beginRecovery(start, limits);
  return { state: next, effects: [...STOP, ...effects] };
}

/** After a check whose snapshot was ahead, the batches up to its watermark are still on their way. */
function onAdopted(state: Live, batchSeq: number, limits: TransitionLimits): Transition {
  const next: Live = { ...state, batchSeq, accepts: "next", check: null };
  const ending = endCheck(limits);
  if (state.check === null || batchSeq <= state.batchSeq) return { state: next, effects: ending };
  return { state: { ...next, coveredAfter: state.batchSeq }, effects: [...ending, { type: "start-timer", timer: "settle" }] };
}

function onTimer(state: Live, timer: Timer, limits: TransitionLimits): Transition {
  switch (timer) {
    case "resync":
      if (limits.recovery !== "snapshot") return STAY(state);
      return {
        state: { ...state, check: { held: null, watermark: null, checkedFrom: state.batchSeq } },
        effects: [{ type: "ask-snapshot" }, { type: "start-timer", timer: "answer" }],
      };
    case "settle":
      return STAY({ ...state, attempt: 0, coveredAfter: null });
    case "answer":
      return state.check === null ? STAY(state) : failCheck(state, [], limits);
    case "retry":
      return STAY(state);
  }
}

function onCheck(
  state: Live,
  event: StreamEvent & { type: "snapshot" | "answer-end" | "request-failed" },
  limits: TransitionLimits,
): Transition {
  const { attempt, check } = state;
  if (check === null || event.type === "request-failed") return failCheck(state, [], limits);
  if (event.type === "snapshot") {
    if (check.watermark !== null) return failCheck(state, [], limits);
    return { state: { ...state, check: { ...check, watermark: event.watermark } }, effects: [{ type: "keep-snapshot" }] };
  }
  // The engine was asked after it had sent batch `checkedFrom`: a watermark before that is another process's.
  if (check.watermark !== null && check.watermark < check.checkedFrom) {
    const problem = unsynchronized("restart", check.checkedFrom, check.watermark);
    return desynchronize(state, { attempt, problem, known: NONE }, limits);
  }
  const outcome = adoptWhenWhole(check);
  return outcome.type === "fail" ? failCheck(state, [], limits) : { state, effects: [outcome] };
}

/** The index is as good as it was; the next check comes in its time. */
function failCheck(state: Live, first: readonly Effect[], limits: TransitionLimits): Transition {
  const effects = [...first, ...endCheck(limits), { type: "count", drop: "failed-check" }] as const;
  return { state: { ...state, check: null }, effects };
}

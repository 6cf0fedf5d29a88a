/** Recovery from a snapshot: live batches are held until it is whole, and those after its watermark are applied to it. */

import { type Unsynchronized, unsynchronized } from "#domain";
import { failRecovery, goLive, hold, loseConnection, loseSubscriber, STAY } from "./moves.ts";
import {
  type Effect,
  NONE,
  type Recovery,
  type StreamEvent,
  type StreamState,
  type Transition,
  type TransitionLimits,
} from "./state.ts";

type Recovering = Extract<StreamState, { kind: "recovering" }>;

export function inRecovering(state: Recovering, event: StreamEvent, limits: TransitionLimits): Transition {
  const { attempt, recovery } = state;
  const fail = (problem: Unsynchronized) => failRecovery(attempt, problem, NONE);
  switch (event.type) {
    case "batch":
      if (event.isFullState && !event.isRepeat) return { state, effects: [{ type: "adopt-batch" }] };
      return holdLiveBatch(state, event, limits);
    case "snapshot":
      if (recovery.watermark !== null) return fail(unsynchronized("snapshot-malformed"));
      return {
        state: { ...state, recovery: { ...recovery, watermark: event.watermark } },
        effects: [{ type: "keep-snapshot" }],
      };
    case "answer-end": {
      const outcome = adoptWhenWhole(recovery);
      return outcome.type === "adopt-snapshot" ? { state, effects: [outcome] } : fail(outcome.problem);
    }
    case "adopted":
      // A publisher that has published nothing may count from 0 or from 1.
      return goLive(event.batchSeq, event.isEmpty && event.batchSeq === 0 ? "next-or-zero" : "next", recovery.held, limits);
    case "timer":
      return event.timer === "answer" ? fail(unsynchronized("snapshot-timeout", limits.replayTimeoutMs)) : STAY(state);
    case "request-failed":
    case "adopt-failed":
    case "batch-failed":
    case "message-malformed":
      return fail(event.problem);
    case "disconnected":
      return loseConnection(attempt, NONE);
    case "subscriber-lost":
      return loseSubscriber(attempt, event.problem, NONE);
    case "replayed":
    case "replay-applied":
    case "replay-apply-failed":
    case "connected":
    case "handshake-broken-off":
      return STAY(state);
  }
}

/** A batch during recovery is held if it continues the run; after a hole it begins a new run, which the snapshot must reach. */
function holdLiveBatch(state: Recovering, event: StreamEvent & { type: "batch" }, limits: TransitionLimits): Transition {
  const { held } = state.recovery;
  if (held !== null && event.batchSeq <= held.last) {
    if (event.isRepeat) return { state, effects: [{ type: "count", drop: "repeated-batch" }] };
    return failRecovery(state.attempt, unsynchronized("restart", held.last, event.batchSeq), NONE);
  }
  const continues = held === null || event.batchSeq === held.last + 1;
  const next = hold(continues ? held : null, event, limits);
  if (next === null) {
    return failRecovery(state.attempt, unsynchronized("buffer-limit", limits.maxBufferedBytes), NONE);
  }
  return {
    state: { ...state, recovery: { ...state.recovery, held: next } },
    effects: continues ? [{ type: "hold-batch" }] : [{ type: "release-held" }, { type: "hold-batch" }],
  };
}

/**
 * What to do at the end marker: adopt, or why not. Batches at or below the watermark are in the snapshot; the rest must begin
 * right after it, for what lies between is lost.
 */
export function adoptWhenWhole({
  watermark,
  held,
}: Recovery): (Effect & { type: "adopt-snapshot" }) | { type: "fail"; problem: Unsynchronized } {
  if (watermark === null) return { type: "fail", problem: unsynchronized("snapshot-malformed") };
  if (held !== null && held.first > watermark + 1) {
    return { type: "fail", problem: unsynchronized("snapshot-behind", watermark, held.first) };
  }
  return { type: "adopt-snapshot", watermark };
}

/**
 * What a stream does next: a pure function of its state and what happened. Whatever is in doubt leads out of `live`, with a
 * reason, and every state but `live` leads back to a recovery: by itself, for ever.
 */

import { type Unsynchronized, unsynchronized } from "#domain";
import { inLive } from "./live.ts";
import { beginRecovery, failRecovery, hold, loseConnection, loseSubscriber, STAY } from "./moves.ts";
import { adoptWhenWhole } from "./recovery.ts";
import type { StreamEvent, StreamState, Transition, TransitionLimits } from "./state.ts";

/** A new stream: nothing is open yet. */
export function begin(): Transition {
  return { state: { kind: "connecting", attempt: 0 }, effects: [{ type: "open-subscriber" }] };
}

export function transition(state: StreamState, event: StreamEvent, limits: TransitionLimits): Transition {
  switch (state.kind) {
    case "connecting":
      return inConnecting(state, event);
    case "recovering":
      return inRecovering(state, event, limits);
    case "live":
      return inLive(state, event, limits);
    case "waiting":
      return inWaiting(state, event);
  }
}

type Connecting = Extract<StreamState, { kind: "connecting" }>;
type Recovering = Extract<StreamState, { kind: "recovering" }>;
type Waiting = Extract<StreamState, { kind: "waiting" }>;

function inConnecting(state: Connecting, event: StreamEvent): Transition {
  switch (event.type) {
    case "connected":
      return beginRecovery(state.attempt, unsynchronized("snapshot-awaited"));
    case "subscriber-lost":
      return loseSubscriber(state.attempt, event.problem);
    case "message-malformed":
      return { state, effects: [{ type: "unsynchronize", problem: event.problem }] };
    case "batch":
      return { state, effects: [{ type: "count", drop: "stale-message" }] };
    case "disconnected":
    case "batch-failed":
    case "snapshot":
    case "snapshot-end":
    case "snapshot-failed":
    case "adopted":
    case "adopt-failed":
    case "timer":
      return STAY(state);
  }
}

function inRecovering(state: Recovering, event: StreamEvent, limits: TransitionLimits): Transition {
  const { attempt, recovery } = state;
  const fail = (problem: Unsynchronized) => failRecovery(attempt, problem);
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
    case "snapshot-end": {
      const problem = adoptWhenWhole(recovery);
      return problem.type === "adopt-snapshot" ? { state, effects: [problem] } : fail(problem.problem);
    }
    case "adopted":
      return {
        // Until it has lasted, a recovery counts as one that did not: the next waits, but no longer than the first retry.
        state: {
          kind: "live",
          attempt: 1,
          batchSeq: event.batchSeq,
          acceptsZero: event.isEmpty && event.batchSeq === 0,
          coveredAfter: recovery.held === null ? -1 : recovery.held.last,
          check: null,
        },
        effects: [
          { type: "end-recovery" },
          { type: "stop-timer", timer: "snapshot" },
          { type: "start-timer", timer: "resync" },
          { type: "start-timer", timer: "settle" },
        ],
      };
    case "timer":
      return event.timer === "snapshot" ? fail(unsynchronized("snapshot-timeout", limits.replayTimeoutMs)) : STAY(state);
    case "snapshot-failed":
    case "adopt-failed":
    case "batch-failed":
    case "message-malformed":
      return fail(event.problem);
    case "disconnected":
      return loseConnection(attempt);
    case "subscriber-lost":
      return loseSubscriber(attempt, event.problem);
    case "connected":
      return STAY(state);
  }
}

/** A batch during recovery is held if it continues the run; after a hole it begins a new run, which the snapshot must reach. */
function holdLiveBatch(state: Recovering, event: StreamEvent & { type: "batch" }, limits: TransitionLimits): Transition {
  const { held } = state.recovery;
  if (held !== null && event.batchSeq <= held.last) {
    if (event.isRepeat) return { state, effects: [{ type: "count", drop: "repeated-batch" }] };
    return failRecovery(state.attempt, unsynchronized("restart", held.last, event.batchSeq));
  }
  const continues = held === null || event.batchSeq === held.last + 1;
  const next = hold(continues ? held : null, event, limits);
  if (next === null) {
    return failRecovery(state.attempt, unsynchronized("buffer-limit", limits.maxBufferedBytes));
  }
  return {
    state: { ...state, recovery: { ...state.recovery, held: next } },
    effects: continues ? [{ type: "hold-batch" }] : [{ type: "release-held" }, { type: "hold-batch" }],
  };
}

function inWaiting(state: Waiting, event: StreamEvent): Transition {
  switch (event.type) {
    case "timer":
      if (event.timer !== "retry") return STAY(state);
      if (state.hasSubscriber) return beginRecovery(state.attempt, null);
      return { state: { kind: "connecting", attempt: state.attempt }, effects: [{ type: "open-subscriber" }] };
    case "batch":
      // The next snapshot is asked for later than this batch was sent, and includes it.
      if (!event.isFullState || event.isRepeat) return { state, effects: [{ type: "count", drop: "batch-while-waiting" }] };
      return {
        state: { kind: "recovering", attempt: state.attempt, recovery: { held: null, watermark: null } },
        effects: [{ type: "stop-timer", timer: "retry" }, { type: "adopt-batch" }],
      };
    case "disconnected":
      return loseConnection(state.attempt);
    case "subscriber-lost":
      return loseSubscriber(state.attempt, event.problem);
    case "message-malformed":
      return { state, effects: [{ type: "unsynchronize", problem: event.problem }] };
    case "connected":
    case "snapshot":
    case "snapshot-end":
    case "snapshot-failed":
    case "batch-failed":
    case "adopted":
    case "adopt-failed":
      return STAY(state);
  }
}

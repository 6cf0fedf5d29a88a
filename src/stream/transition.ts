/**
 * What a stream does next: a pure function of its state and what happened. Whatever is in doubt leads out of `live`, with a
 * reason, and every state but `live` leads back to a recovery: by itself, for ever.
 */

import { inLive } from "./live.ts";
import { awaited, beginRecovery, loseConnection, loseSubscriber, STAY } from "./moves.ts";
import { inRecovering } from "./recovering.ts";
import { inReplaying } from "./replaying.ts";
import { NONE, type StreamEvent, type StreamState, type Transition, type TransitionLimits } from "./state.ts";

/** A new stream: nothing is open yet. */
export function begin(): Transition {
  return { state: { kind: "connecting", attempt: 0, known: NONE }, effects: [{ type: "open-subscriber" }] };
}

export function transition(state: StreamState, event: StreamEvent, limits: TransitionLimits): Transition {
  switch (state.kind) {
    case "connecting":
      return inConnecting(state, event, limits);
    case "recovering":
      return inRecovering(state, event, limits);
    case "replaying":
      return inReplaying(state, event, limits);
    case "live":
      return inLive(state, event, limits);
    case "waiting":
      return inWaiting(state, event, limits);
  }
}

type Connecting = Extract<StreamState, { kind: "connecting" }>;
type Waiting = Extract<StreamState, { kind: "waiting" }>;

function inConnecting(state: Connecting, event: StreamEvent, limits: TransitionLimits): Transition {
  const { attempt, known } = state;
  switch (event.type) {
    case "connected":
      return beginRecovery({ attempt, problem: awaited(limits), known }, limits);
    case "subscriber-lost":
      return loseSubscriber(attempt, event.problem, known);
    case "handshake-broken-off":
    case "message-malformed":
      return { state, effects: [{ type: "unsynchronize", problem: event.problem }] };
    case "batch":
      return { state, effects: [{ type: "count", drop: "stale-message" }] };
    case "disconnected":
    case "batch-failed":
    case "replayed":
    case "replay-applied":
    case "replay-apply-failed":
    case "snapshot":
    case "answer-end":
    case "request-failed":
    case "adopted":
    case "adopt-failed":
    case "timer":
      return STAY(state);
  }
}

function inWaiting(state: Waiting, event: StreamEvent, limits: TransitionLimits): Transition {
  const { attempt, known, hasSubscriber } = state;
  switch (event.type) {
    case "timer":
      if (event.timer !== "retry") return STAY(state);
      if (hasSubscriber) return beginRecovery({ attempt, problem: null, known }, limits);
      return { state: { kind: "connecting", attempt, known }, effects: [{ type: "open-subscriber" }] };
    case "batch":
      // The next snapshot or replay is asked for later than this batch was sent, and includes it.
      if (!event.isFullState || event.isRepeat) return { state, effects: [{ type: "count", drop: "batch-while-waiting" }] };
      return {
        state: { kind: "recovering", attempt, recovery: { held: null, watermark: null } },
        effects: [{ type: "stop-timer", timer: "retry" }, { type: "adopt-batch" }],
      };
    case "disconnected":
      return loseConnection(attempt, known);
    case "subscriber-lost":
      return loseSubscriber(attempt, event.problem, known);
    case "message-malformed":
      return { state, effects: [{ type: "unsynchronize", problem: event.problem }] };
    case "connected":
    case "handshake-broken-off":
    case "replayed":
    case "replay-applied":
    case "replay-apply-failed":
    case "snapshot":
    case "answer-end":
    case "request-failed":
    case "batch-failed":
    case "adopted":
    case "adopt-failed":
      return STAY(state);
  }
}

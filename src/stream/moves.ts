/** The moves that several states share: into a recovery, out of one that failed, away from a connection that is gone. */

import { type Unsynchronized, unsynchronized } from "#domain";
import type { Effect, Held, StreamEvent, StreamState, Transition, TransitionLimits } from "./state.ts";

/** Nothing to do. */
export function STAY(state: StreamState): Transition {
  return { state, effects: [] };
}

/** Asks for a snapshot; `problem` becomes the stream's reason, null leaves the one it has. */
export function beginRecovery(attempt: number, problem: Unsynchronized | null): Transition {
  const reason: Effect[] = problem === null ? [] : [{ type: "unsynchronize", problem }];
  return {
    state: { kind: "recovering", attempt, recovery: { held: null, watermark: null } },
    effects: [...reason, { type: "ask-snapshot" }, { type: "start-timer", timer: "snapshot" }],
  };
}

/** Gives a recovery up and tries again after a while. */
export function failRecovery(attempt: number, problem: Unsynchronized): Transition {
  return {
    state: { kind: "waiting", attempt: attempt + 1, hasSubscriber: true },
    effects: [
      { type: "unsynchronize", problem },
      { type: "end-recovery" },
      { type: "stop-timer", timer: "snapshot" },
      { type: "start-retry", attempt: attempt + 1 },
    ],
  };
}

const STOP_EVERYTHING: readonly Effect[] = [
  { type: "end-recovery" },
  { type: "stop-timer", timer: "snapshot" },
  { type: "stop-timer", timer: "retry" },
  { type: "stop-timer", timer: "resync" },
  { type: "stop-timer", timer: "settle" },
];

/** The publisher is gone; the subscriber goes on trying to reach it. */
export function loseConnection(attempt: number): Transition {
  return {
    state: { kind: "connecting", attempt },
    effects: [{ type: "unsynchronize", problem: unsynchronized("disconnected") }, ...STOP_EVERYTHING],
  };
}

/** The subscriber is dead; another is opened after a while. */
export function loseSubscriber(attempt: number, problem: Unsynchronized): Transition {
  return {
    state: { kind: "waiting", attempt: attempt + 1, hasSubscriber: false },
    effects: [
      { type: "unsynchronize", problem },
      ...STOP_EVERYTHING,
      { type: "close-subscriber" },
      { type: "start-retry", attempt: attempt + 1 },
    ],
  };
}

/** The run with this batch at its end; null when that would be more than may be held. */
export function hold(
  held: Held | null,
  batch: StreamEvent & { type: "batch" },
  { maxBufferedBytes }: TransitionLimits,
): Held | null {
  const bytes = (held?.bytes ?? 0) + batch.bytes;
  return bytes > maxBufferedBytes ? null : { first: held?.first ?? batch.batchSeq, last: batch.batchSeq, bytes };
}

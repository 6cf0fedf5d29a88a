/** The moves that several states share: into a recovery, out of one that failed, away from a connection that is gone. */

import { type Unsynchronized, unsynchronized } from "#domain";
import {
  type Effect,
  type Held,
  type Live,
  NONE,
  type StreamEvent,
  type StreamState,
  type Transition,
  type TransitionLimits,
} from "./state.ts";

/** Nothing to do. */
export function STAY(state: StreamState): Transition {
  return { state, effects: [] };
}

const FORGET: readonly Effect[] = [{ type: "forget" }];

/** A replay of which nothing has come yet. */
const REPLAY = { kind: "replaying", hole: null, answered: "never", requests: 1 } as const;

/** What a recovery begins with. */
export interface RecoveryStart {
  attempt: number;
  /** Becomes the stream's reason; null leaves the one it has. */
  problem: Unsynchronized | null;
  /** The batch whose state the index holds, or NONE. */
  known: number;
  /** The live batch at hand, to be held for it. */
  held?: Held | null;
}

/** Asks for a snapshot or a replay; without either, the state begins anew with what arrives. */
export function beginRecovery(start: RecoveryStart, { recovery }: Pick<TransitionLimits, "recovery">): Transition {
  const { attempt, problem, known, held = null } = start;
  const reason: Effect[] = problem === null ? [] : [{ type: "unsynchronize", problem }];
  const holding: Effect[] = held === null ? [] : [{ type: "hold-batch" }];
  switch (recovery) {
    case "snapshot":
      return {
        state: { kind: "recovering", attempt, recovery: { held, watermark: null } },
        effects: [...reason, { type: "ask-snapshot" }, { type: "start-timer", timer: "answer" }, ...holding],
      };
    case "replay":
      return {
        state: { ...REPLAY, attempt, held, position: known, isProven: known === NONE, accepts: "next" },
        effects: [
          ...reason,
          // What the index may hold besides belongs to another process, or is in doubt.
          ...(known === NONE ? FORGET : []),
          // The batch that is known is asked for as well: only the process that sent it can repeat it.
          { type: "ask-replay", from: Math.max(known, 0) },
          { type: "start-timer", timer: "answer" },
          ...holding,
        ],
      };
    case "none":
      return {
        state: { ...REPLAY, attempt, held, position: NONE, isProven: true, accepts: "any" },
        effects: [...reason, ...FORGET, ...holding, { type: "show-held", after: held === null ? NONE : held.first - 1 }],
      };
  }
}

/** Why a stream that is just connected answers nothing yet. */
export function awaited({ recovery }: TransitionLimits): Unsynchronized {
  return unsynchronized(recovery === "snapshot" ? "snapshot-awaited" : "replay-awaited");
}

/** Gives a recovery up and tries again after a while. */
export function failRecovery(attempt: number, problem: Unsynchronized, known: number): Transition {
  return {
    state: { kind: "waiting", attempt: attempt + 1, hasSubscriber: true, known },
    effects: [
      { type: "unsynchronize", problem },
      { type: "end-recovery" },
      { type: "stop-timer", timer: "answer" },
      { type: "start-retry", attempt: attempt + 1 },
    ],
  };
}

const STOP_EVERYTHING: readonly Effect[] = [
  { type: "end-recovery" },
  { type: "stop-timer", timer: "answer" },
  { type: "stop-timer", timer: "retry" },
  { type: "stop-timer", timer: "resync" },
  { type: "stop-timer", timer: "settle" },
];

/** The publisher is gone; the subscriber goes on trying to reach it. */
export function loseConnection(attempt: number, known: number): Transition {
  return {
    state: { kind: "connecting", attempt, known },
    effects: [{ type: "unsynchronize", problem: unsynchronized("disconnected") }, ...STOP_EVERYTHING],
  };
}

/** The subscriber is dead; another is opened after a while. */
export function loseSubscriber(attempt: number, problem: Unsynchronized, known: number): Transition {
  return {
    state: { kind: "waiting", attempt: attempt + 1, hasSubscriber: false, known },
    effects: [
      { type: "unsynchronize", problem },
      ...STOP_EVERYTHING,
      { type: "close-subscriber" },
      { type: "start-retry", attempt: attempt + 1 },
    ],
  };
}

/**
 * A recovery has brought a state. Until it has lasted, it counts as one that did not: the next waits, but no longer than the
 * first retry.
 */
export function goLive(
  batchSeq: number,
  accepts: Live["accepts"],
  held: Held | null,
  { recovery }: Pick<TransitionLimits, "recovery">,
): Transition {
  const checks: Effect[] = recovery === "snapshot" ? [{ type: "start-timer", timer: "resync" }] : [];
  return {
    state: { kind: "live", attempt: 1, batchSeq, accepts, coveredAfter: held === null ? NONE : held.last, check: null },
    effects: [
      { type: "end-recovery" },
      { type: "stop-timer", timer: "answer" },
      ...checks,
      { type: "start-timer", timer: "settle" },
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

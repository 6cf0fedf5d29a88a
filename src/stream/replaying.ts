/**
 * Recovery from a replay buffer: the publisher's last batches, applied in order and out of sight until they meet the live ones.
 * Every answer is checked: a hole is asked for once more; what cannot be had is given up, together with everything before it,
 * since blocks may have left in between. What is known then begins later, and the coverage is partial until the engine starts
 * or clears anew.
 */

import { type Unsynchronized, unsynchronized } from "#domain";
import { beginRecovery, failRecovery, goLive, hold, loseConnection, loseSubscriber, STAY } from "./moves.ts";
import { type Effect, NONE, type Replaying, type StreamEvent, type Transition, type TransitionLimits } from "./state.ts";

/** Requests that fail, one after another, after which the endpoint counts as none. */
const FAILED_REQUESTS_MAX = 3;

/** Requests of one recovery. A publisher keeps 10,000 batches, and sends some 1000 of an answer before it loses any. */
const REQUESTS_MAX = 32;

const HOLD: readonly Effect[] = [{ type: "hold-batch" }];

export function inReplaying(state: Replaying, event: StreamEvent, limits: TransitionLimits): Transition {
  const { attempt, position } = state;
  switch (event.type) {
    case "batch":
      return onLiveBatch(state, event, limits);
    case "replayed":
      return onReplayed(state, event);
    case "replay-applied":
      return meet(state, []);
    case "replay-apply-failed":
      return isPassable(event.problem) ? meet(state, [{ type: "forget" }]) : failRecovery(attempt, event.problem, NONE);
    case "answer-end":
      return onEnd(state);
    case "timer":
      return event.timer === "answer" ? onSilence(state, limits) : STAY(state);
    case "adopted":
      return goLive(event.batchSeq, event.batchSeq === NONE ? state.accepts : "next", state.held, limits);
    case "request-failed":
      return failRequest(state, event.problem);
    case "message-malformed":
      return failRecovery(attempt, event.problem, position);
    case "adopt-failed":
    case "batch-failed":
      return failRecovery(attempt, event.problem, NONE);
    case "disconnected":
      return loseConnection(attempt, position);
    case "subscriber-lost":
      return loseSubscriber(attempt, event.problem, position);
    case "snapshot":
    case "connected":
    case "handshake-broken-off":
      return STAY(state);
  }
}

/**
 * Whether a batch with this problem can be passed over: what came before it counts no more, but what comes after it does. A
 * publisher's past may hold more blocks than its present; without that, the stream could not get past it.
 */
export function isPassable({ reason }: Unsynchronized): boolean {
  return reason === "batch-malformed" || reason === "event-malformed" || reason === "block-limit";
}

function onReplayed(state: Replaying, { batchSeq, isKnown }: StreamEvent & { type: "replayed" }): Transition {
  const answering: Replaying = { ...state, answered: "now" };
  const { position, isProven, hole } = state;
  if (!isProven && batchSeq === position) {
    if (isKnown) return meet({ ...answering, isProven: true }, []);
    return startOver(state, unsynchronized("restart", position, batchSeq));
  }
  // The batch that would prove it is no longer there.
  if (!isProven && batchSeq > position) return takeFrom(answering, batchSeq);
  if (position === NONE || batchSeq === position + 1) return apply(answering, batchSeq);
  if (batchSeq <= position) return { state, effects: [{ type: "count", drop: "repeated-batch" }] };
  const isLost = hole === position + 1 || !mayAskAgain(state);
  return isLost ? takeFrom(answering, batchSeq) : askAgain({ ...answering, hole: position + 1 });
}

function apply(state: Replaying, batchSeq: number): Transition {
  return { state: { ...state, position: batchSeq }, effects: [{ type: "apply-replayed" }] };
}

/** What is known begins with this batch: those before it cannot be had. */
function takeFrom(state: Replaying, batchSeq: number): Transition {
  const { state: next, effects } = apply({ ...state, isProven: true, hole: null }, batchSeq);
  return { state: next, effects: [{ type: "forget" }, ...effects] };
}

function mayAskAgain({ requests }: Replaying): boolean {
  return requests < REQUESTS_MAX;
}

function askAgain(state: Replaying): Transition {
  const { position, answered, requests } = state;
  return {
    state: { ...state, answered: answered === "now" ? "before" : answered, requests: requests + 1 },
    effects: [
      { type: "ask-replay", from: position + 1 },
      { type: "start-timer", timer: "answer" },
    ],
  };
}

/** Another process: nothing of what is held of the old one counts. */
function startOver(state: Replaying, problem: Unsynchronized | null): Transition {
  const { state: next, effects } = beginRecovery({ attempt: state.attempt, problem, known: NONE }, { recovery: "replay" });
  return { state: { ...(next as Replaying), held: state.held }, effects };
}

/** Whether nothing is missing between the replay and the live batches held. */
function hasMet({ held, position, isProven }: Replaying): boolean {
  return isProven && (held === null || held.first <= position + 1);
}

/** Shows the state once the replay has reached the live batches held. */
function meet(state: Replaying, effects: readonly Effect[]): Transition {
  if (state.held === null || !hasMet(state)) return { state, effects };
  return { state, effects: [...effects, { type: "show-held", after: state.position }] };
}

/**
 * The end marker says that there is no more; whether that is all shows only in the numbers. A long answer loses its last batches
 * and keeps the marker: the end is where a request brings nothing more.
 */
function onEnd(state: Replaying): Transition {
  const { held, position, hole, answered } = state;
  if (!state.isProven) return startOver(state, null);
  if (hasMet(state)) {
    if (held === null && answered === "now" && mayAskAgain(state)) return askAgain(state);
    return { state, effects: [{ type: "show-held", after: position }] };
  }
  if (hole === position + 1 || !mayAskAgain(state)) return showFromHeld(state);
  return askAgain({ ...state, hole: position + 1 });
}

/** What is known begins with the live batches held, or with the next one, whichever it is. */
function showFromHeld(state: Replaying): Transition {
  const after = state.held === null ? NONE : state.held.first - 1;
  return {
    state: { ...state, position: after, isProven: true, accepts: "any" },
    effects: [{ type: "forget" }, { type: "show-held", after }],
  };
}

/** The time for an answer is over. One that was cut is continued; what has come is good as far as it goes. */
function onSilence(state: Replaying, limits: TransitionLimits): Transition {
  const { answered, position } = state;
  if (answered === "never") return failRequest(state, unsynchronized("replay-timeout", limits.replayTimeoutMs));
  if (answered === "now" && mayAskAgain(state)) return askAgain(state);
  return hasMet(state) ? { state, effects: [{ type: "show-held", after: position }] } : showFromHeld(state);
}

/** The request comes to nothing. Where that happens again and again, the stream goes on as one without a replay endpoint. */
function failRequest(state: Replaying, problem: Unsynchronized): Transition {
  const { attempt, position } = state;
  return attempt + 1 >= FAILED_REQUESTS_MAX ? showFromHeld(state) : failRecovery(attempt, problem, position);
}

function onLiveBatch(state: Replaying, event: StreamEvent & { type: "batch" }, limits: TransitionLimits): Transition {
  const { held, position } = state;
  if (event.isFullState && !event.isRepeat) return { state, effects: [{ type: "adopt-batch" }] };
  const last = held?.last ?? position;
  if (event.batchSeq <= last) {
    if (event.isRepeat) return { state, effects: [{ type: "count", drop: "repeated-batch" }] };
    return onRestart(state, event, limits, unsynchronized("restart", last, event.batchSeq));
  }
  const continues = held === null || event.batchSeq === held.last + 1;
  const next = hold(continues ? held : null, event, limits);
  // The replay has it as well: what cannot be held now shows as a gap, and is asked for, later.
  if (next === null)
    return { state: { ...state, held: null }, effects: [{ type: "release-held" }, { type: "count", drop: "held-batch" }] };
  return meet({ ...state, held: next }, continues ? HOLD : [{ type: "release-held" }, ...HOLD]);
}

/**
 * A live batch shows another process. Where that was proven to be the same one, starting over at once might never end: it waits.
 */
function onRestart(
  state: Replaying,
  batch: StreamEvent & { type: "batch" },
  limits: TransitionLimits,
  problem: Unsynchronized,
): Transition {
  if (state.isProven) return failRecovery(state.attempt, problem, NONE);
  const held = hold(null, batch, limits);
  const { state: next, effects } = startOver({ ...state, held }, problem);
  return { state: next, effects: [...effects, { type: "release-held" }, ...(held === null ? [] : HOLD)] };
}

/**
 * Following one publisher's batches, as a pure function: every batch is delivered once and in order, and what is missing is asked
 * for. Live batches are taken only while `following`, so that a replay in progress holds them back in their socket.
 *
 *              connected          gap, restart, connected again
 *   joining ──────────────▶ asking ◀───────────────────────── following
 *                           │  ▲ │                               ▲
 *                    failed │  │ │ ended, or failed too often    │
 *                           ▼  │ └───────────────────────────────┘
 *                         pausing   (retry-due)
 *
 * The live batch that reveals a gap is held until the replay has ended. A hole before anything new in a replay is gone at the
 * publisher; one behind something new may have been lost on the way and is asked for again. A request follows another only after
 * progress, or after a failure that counts, so that asking ends.
 */

import { assert } from "#base";

export interface FollowRules {
  /** `replay`: the last batches, one by one. `snapshot`: the publisher's whole state. */
  recovery: "replay" | "snapshot" | "none";
  /** Batch sequence that a publisher starts with. */
  firstBatchSeq: number;
  /** Failed requests in a row after which what is missing is given up. */
  failuresMax: number;
}

/**
 * `nextBatchSeq` is null until anything was delivered: then any number is the next. `failures`: requests in a row that failed.
 * `hasProgress`: the request at hand has brought something new.
 */
export type FollowState =
  | { kind: "joining"; failures: number }
  | { kind: "following"; nextBatchSeq: number | null; failures: number }
  | { kind: "asking"; nextBatchSeq: number | null; failures: number; heldBatchSeq: number | null; hasProgress: boolean }
  | { kind: "pausing"; nextBatchSeq: number | null; failures: number; heldBatchSeq: number | null };

/** `isKnown`: these very bytes were delivered under this number. */
export type FollowInput =
  | { type: "connected" }
  | { type: "live"; batchSeq: number; isKnown: boolean }
  | { type: "replayed"; batchSeq: number; isKnown: boolean }
  | { type: "snapshot"; watermark: number }
  | { type: "ended" }
  | { type: "failed" }
  | { type: "retry-due" };

/** `deliver`, `drop-repeat` and `hold` are about the batch that came in. */
export type FollowEffect =
  | { type: "deliver" }
  | { type: "drop-repeat" }
  | { type: "hold" }
  | { type: "deliver-held" }
  | { type: "drop-held" }
  | { type: "ask"; start: number }
  | { type: "pause"; failures: number }
  | { type: "tell-gap"; from: number; to: number }
  | { type: "tell-restart"; lastBatchSeq: number; foundBatchSeq: number };

export interface FollowStep {
  state: FollowState;
  effects: FollowEffect[];
}

export const JOINING: FollowState = { kind: "joining", failures: 0 };

/** The state after `input`, and what to do in order. */
export function follow(state: FollowState, input: FollowInput, rules: FollowRules): FollowStep {
  switch (input.type) {
    case "connected":
      return onConnected(state, rules);
    case "live":
      assert(state.kind === "following", "live batches are taken only while following");
      return onLive(state, input, rules);
    case "replayed":
      assert(state.kind === "asking", "replayed batches come only while asking");
      return onReplayed(state, input, rules);
    case "snapshot":
      assert(state.kind === "asking", "snapshots come only while asking");
      return onSnapshot(state, input.watermark);
    case "ended":
      assert(state.kind === "asking", "a request ends only while asking");
      return finish({ ...state, failures: 0 }, state.hasProgress);
    case "failed":
      assert(state.kind === "asking", "a request fails only while asking");
      return onFailed(state, rules);
    case "retry-due":
      assert(state.kind === "pausing", "a retry is due only while pausing");
      return ask(state, state.nextBatchSeq ?? 0, []);
  }
}

type Asking = FollowState & { kind: "asking" };
type Following = FollowState & { kind: "following" };
type Batch = { batchSeq: number; isKnown: boolean };

/**
 * What was published before the subscription is asked for, everything at first. After a lost connection the last batch is asked
 * for again: other bytes under its number are a restart, which the numbers that follow might not show.
 */
function onConnected(state: FollowState, { recovery }: FollowRules): FollowStep {
  if (state.kind === "asking" || state.kind === "pausing") return { state, effects: [] };
  const nextBatchSeq = state.kind === "joining" ? null : state.nextBatchSeq;
  const { failures } = state;
  if (recovery === "none") return { state: { kind: "following", nextBatchSeq, failures }, effects: [] };
  return ask({ nextBatchSeq, failures, heldBatchSeq: null }, Math.max((nextBatchSeq ?? 0) - 1, 0), []);
}

function onLive(state: Following, { batchSeq, isKnown }: Batch, rules: FollowRules): FollowStep {
  const { nextBatchSeq, failures } = state;
  if (nextBatchSeq === null || batchSeq === nextBatchSeq) {
    return { state: { ...state, nextBatchSeq: batchSeq + 1 }, effects: [{ type: "deliver" }] };
  }
  if (batchSeq > nextBatchSeq) {
    if (rules.recovery !== "none") {
      return ask({ nextBatchSeq, failures, heldBatchSeq: batchSeq }, nextBatchSeq, [{ type: "hold" }]);
    }
    return {
      state: { ...state, nextBatchSeq: batchSeq + 1 },
      effects: [{ type: "tell-gap", from: nextBatchSeq, to: batchSeq - 1 }, { type: "deliver" }],
    };
  }
  if (isKnown) return { state, effects: [{ type: "drop-repeat" }] };
  const restarted = { ...state, nextBatchSeq: firstOf(batchSeq, rules) };
  const { state: next, effects } = onLive(restarted, { batchSeq, isKnown }, rules);
  return { state: next, effects: [tellRestart(nextBatchSeq, batchSeq), ...effects] };
}

function onReplayed(state: Asking, { batchSeq, isKnown }: Batch, rules: FollowRules): FollowStep {
  const { nextBatchSeq, hasProgress } = state;
  if (nextBatchSeq === null || batchSeq === nextBatchSeq) return deliverReplayed(state, batchSeq, []);
  if (batchSeq > nextBatchSeq) {
    if (hasProgress) return ask({ ...state, failures: 0 }, nextBatchSeq, []);
    return deliverReplayed(state, batchSeq, [{ type: "tell-gap", from: nextBatchSeq, to: batchSeq - 1 }]);
  }
  if (isKnown) return { state, effects: [{ type: "drop-repeat" }] };
  // A held batch is of the process that ended, or the new one's replay brings it again.
  const restarted: Asking = { ...state, nextBatchSeq: firstOf(batchSeq, rules), heldBatchSeq: null };
  const effects = [tellRestart(nextBatchSeq, batchSeq), ...dropHeld(state)];
  if (batchSeq === restarted.nextBatchSeq) return deliverReplayed(restarted, batchSeq, effects);
  return ask(restarted, firstOf(batchSeq, rules), effects);
}

/** A snapshot is complete by itself: its request has ended with it. */
function onSnapshot(state: Asking, watermark: number): FollowStep {
  const { nextBatchSeq } = state;
  const isRestart = nextBatchSeq !== null && watermark < nextBatchSeq - 1;
  const isProgress = nextBatchSeq === null || watermark >= nextBatchSeq;
  const effects: FollowEffect[] = isRestart ? [tellRestart(nextBatchSeq, watermark), ...dropHeld(state)] : [];
  const heldBatchSeq = isRestart ? null : state.heldBatchSeq;
  const rest = finish({ nextBatchSeq: watermark + 1, failures: 0, heldBatchSeq }, isProgress);
  return { state: rest.state, effects: [...effects, { type: "deliver" }, ...rest.effects] };
}

/** A request that has brought something before it failed begins a new row of failures. */
function onFailed(state: Asking, { failuresMax }: FollowRules): FollowStep {
  const failures = state.hasProgress ? 1 : state.failures + 1;
  const { nextBatchSeq, heldBatchSeq } = state;
  if (failures >= failuresMax) return finish({ nextBatchSeq, heldBatchSeq, failures }, false);
  return { state: { kind: "pausing", nextBatchSeq, heldBatchSeq, failures }, effects: [{ type: "pause", failures }] };
}

type Missing = { nextBatchSeq: number | null; failures: number; heldBatchSeq: number | null };

/**
 * Back to the live batches, the held one first; what is missing before it is asked for again where that has helped, else given
 * up.
 */
function finish({ nextBatchSeq, failures, heldBatchSeq }: Missing, isProgress: boolean): FollowStep {
  if (heldBatchSeq === null || nextBatchSeq === null)
    return { state: { kind: "following", nextBatchSeq, failures }, effects: [] };
  if (heldBatchSeq < nextBatchSeq) {
    return { state: { kind: "following", nextBatchSeq, failures }, effects: [{ type: "drop-held" }] };
  }
  if (heldBatchSeq > nextBatchSeq && isProgress) return ask({ nextBatchSeq, failures, heldBatchSeq }, nextBatchSeq, []);
  const effects: FollowEffect[] = [{ type: "deliver-held" }];
  if (heldBatchSeq > nextBatchSeq) effects.unshift({ type: "tell-gap", from: nextBatchSeq, to: heldBatchSeq - 1 });
  return { state: { kind: "following", nextBatchSeq: heldBatchSeq + 1, failures }, effects };
}

function ask({ nextBatchSeq, failures, heldBatchSeq }: Missing, start: number, before: FollowEffect[]): FollowStep {
  return {
    state: { kind: "asking", nextBatchSeq, failures, heldBatchSeq, hasProgress: false },
    effects: [...before, { type: "ask", start }],
  };
}

function deliverReplayed(state: Asking, batchSeq: number, before: FollowEffect[]): FollowStep {
  return {
    state: { ...state, nextBatchSeq: batchSeq + 1, hasProgress: true },
    effects: [...before, { type: "deliver" }],
  };
}

/** Where a publisher of which `batchSeq` was heard began; one may begin below what is usual. */
function firstOf(batchSeq: number, { firstBatchSeq }: FollowRules): number {
  return Math.min(firstBatchSeq, batchSeq);
}

function tellRestart(nextBatchSeq: number, foundBatchSeq: number): FollowEffect {
  return { type: "tell-restart", lastBatchSeq: nextBatchSeq - 1, foundBatchSeq };
}

function dropHeld({ heldBatchSeq }: Asking): FollowEffect[] {
  return heldBatchSeq === null ? [] : [{ type: "drop-held" }];
}

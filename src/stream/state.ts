/** What a stream's life consists of: its states, what can happen to it, and what is then to be done. README.md has the table. */

import type { Unsynchronized } from "#domain";

/** Live batches kept during a recovery: a run without a hole, from `first` to `last`. */
export interface Held {
  first: number;
  last: number;
  bytes: number;
}

/** A snapshot on its way. `watermark` is known once its payload is here and only the end marker is missing. */
export interface Recovery {
  held: Held | null;
  watermark: number | null;
}

/**
 * `attempt` counts recoveries that failed one after another, and decides how long to wait before the next; in `live` it is 1
 * until the state has lasted. `known` is the batch whose state the index still holds, out of sight; NONE where it holds none, or
 * where a snapshot will tell anyway. Only `live` is synchronized.
 */
export type StreamState =
  /** The subscriber tries to reach the publisher. */
  | { kind: "connecting"; attempt: number; known: number }
  /** Connected; the engine was asked for its snapshot. */
  | { kind: "recovering"; attempt: number; recovery: Recovery }
  | Replaying
  | Live
  /** A recovery failed; the next begins when the backoff ends. Without a subscriber a new one is opened first. */
  | { kind: "waiting"; attempt: number; hasSubscriber: boolean; known: number };

/**
 * Connected; the publisher was asked for the batches that it still has. They are applied as they come, out of sight, until they
 * meet the live batches held meanwhile. Nothing that it says is trusted: neither that it is the same process as before, nor
 * that its answer is whole.
 */
export interface Replaying {
  kind: "replaying";
  attempt: number;
  held: Held | null;
  /** The last batch that the index holds; NONE at first. */
  position: number;
  /** Whether the publisher has repeated the batch at `position`, and so is the process that it was; true without one. */
  isProven: boolean;
  /** The first batch of a hole that was asked for once more; null without one. */
  hole: number | null;
  /** Whether a batch has come that brought the recovery on: of the request under way, of one before, or of none. */
  answered: "now" | "before" | "never";
  /** Requests so far. */
  requests: number;
  /** What comes first where no batch is held: 0, or whichever arrives, for the publisher does not tell where it stands. */
  accepts: "next" | "any";
}

/** No batch: the index holds nothing. */
export const NONE = -1;

/** The index is the publisher's state after `batchSeq`. */
export interface Live {
  kind: "live";
  attempt: number;
  batchSeq: number;
  /** Which batch comes first: the next one alone; or 0 as well, for nothing was ever published; or whichever arrives. */
  accepts: "next" | "next-or-zero" | "any";
  /**
   * The two sockets are not ordered: right after a snapshot, batches at or below its watermark may still arrive. Those after
   * this one are expected, and dropped. Null once the time for that is over: a lower batch then is a restart.
   */
  coveredAfter: number | null;
  /** A reconciliation under way. */
  check: Check | null;
}

interface Check extends Recovery {
  /** The engine was asked after it had sent this batch: its snapshot cannot lie before it. */
  checkedFrom: number;
}

export type Timer = "answer" | "retry" | "resync" | "settle";

/** What can happen. */
export type StreamEvent =
  | { type: "connected" }
  | { type: "disconnected" }
  /** The publisher closed the connection before it was one; the subscriber goes on trying. */
  | { type: "handshake-broken-off"; problem: Unsynchronized }
  /** The connection is given up: a message was too large, the endpoint is no publisher, or CURVE failed. The subscriber is dead. */
  | { type: "subscriber-lost"; problem: Unsynchronized }
  /**
   * A live batch arrived. `bytes`: what holding it costs. `isRepeat`: the very bytes of a batch seen before. `isFullState`:
   * AllBlocksCleared and then stores; looked for only where it matters (not in order, or not synchronized).
   */
  | { type: "batch"; batchSeq: number; bytes: number; isRepeat: boolean; isFullState: boolean }
  /** A live message that is no batch. */
  | { type: "message-malformed"; problem: Unsynchronized }
  /** The batch that was to be applied did not fit the state. */
  | { type: "batch-failed"; problem: Unsynchronized }
  /** A batch of the replay. `isKnown`: the very batch that the index holds last, byte for byte. */
  | { type: "replayed"; batchSeq: number; isKnown: boolean }
  | { type: "replay-applied" }
  | { type: "replay-apply-failed"; problem: Unsynchronized }
  | { type: "snapshot"; watermark: number }
  | { type: "answer-end" }
  /** No snapshot or replay will come of this request, or not one that can be decoded. */
  | { type: "request-failed"; problem: Unsynchronized }
  /** The index now is the state that was adopted. */
  | { type: "adopted"; batchSeq: number; isEmpty: boolean }
  /** The state that was to be adopted does not fit the index, or the batches after it do not fit the state. */
  | { type: "adopt-failed"; problem: Unsynchronized }
  | { type: "timer"; timer: Timer };

/** What is to be done, in order. */
export type Effect =
  | { type: "open-subscriber" }
  | { type: "close-subscriber" }
  | { type: "ask-snapshot" }
  /** Ask for the batches from this one on. */
  | { type: "ask-replay"; from: number }
  /** Apply the replayed batch at hand, out of sight; then `replay-applied` or `replay-apply-failed`. */
  | { type: "apply-replayed" }
  /** Apply the held batches after this one and show the state; then `adopted` or `adopt-failed`. */
  | { type: "show-held"; after: number }
  /** Drop the stream's blocks: they belong to another process, or are in doubt. */
  | { type: "forget" }
  /** Forget the request, its reply and the batches held for it. */
  | { type: "end-recovery" }
  | { type: "keep-snapshot" }
  /** Keep the batch at hand. */
  | { type: "hold-batch" }
  | { type: "release-held" }
  /** Apply the batch at hand; then `batch-failed` or nothing. */
  | { type: "apply-batch" }
  /**
   * Build the kept snapshot's state, apply the held batches after the watermark, publish both; then `adopted` or `adopt-failed`.
   */
  | { type: "adopt-snapshot"; watermark: number }
  /** The batch at hand is the whole state: build and publish it; then `adopted` or `adopt-failed`. */
  | { type: "adopt-batch" }
  | { type: "unsynchronize"; problem: Unsynchronized }
  | { type: "start-timer"; timer: Exclude<Timer, "retry"> }
  /** After the backoff for this attempt. */
  | { type: "start-retry"; attempt: number }
  | { type: "stop-timer"; timer: Timer }
  | { type: "count"; drop: Drop };

/** Why a live message, or a check, was not used. */
export const DROPS = [
  "repeated-batch",
  "covered-batch",
  "batch-while-waiting",
  "failed-check",
  "foreign-topic",
  "stale-message",
  "held-batch",
] as const;

export type Drop = (typeof DROPS)[number];

export interface Transition {
  state: StreamState;
  effects: readonly Effect[];
}

export interface TransitionLimits {
  /** How the engine lets a stream recover: by its whole state, by its last batches, or not at all. */
  recovery: "snapshot" | "replay" | "none";
  maxBufferedBytes: number;
  replayTimeoutMs: number;
}

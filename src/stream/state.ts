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
 * `attempt` counts recoveries that failed one after another, and decides how long to wait before the next; in `live` it is 1 until
 * the state has lasted.
 * Only `live` is synchronized.
 */
export type StreamState =
  /** The subscriber tries to reach the publisher. */
  | { kind: "connecting"; attempt: number }
  /** Connected; the engine was asked for its snapshot. */
  | { kind: "recovering"; attempt: number; recovery: Recovery }
  | Live
  /** A recovery failed; the next begins when the backoff ends. Without a subscriber a new one is opened first. */
  | { kind: "waiting"; attempt: number; hasSubscriber: boolean };

/** The index is the publisher's state after `batchSeq`. */
export interface Live {
  kind: "live";
  attempt: number;
  batchSeq: number;
  /** Nothing was ever published: a publisher that counts from 0 is not a restart. */
  acceptsZero: boolean;
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

export type Timer = "snapshot" | "retry" | "resync" | "settle";

/** What can happen. */
export type StreamEvent =
  | { type: "connected" }
  | { type: "disconnected" }
  /** libzmq has given the connection up: a message was too large, or the endpoint is no publisher. The subscriber is dead. */
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
  | { type: "snapshot"; watermark: number }
  | { type: "snapshot-end" }
  /** No snapshot will come of this request, or not one that can be decoded. */
  | { type: "snapshot-failed"; problem: Unsynchronized }
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
] as const;

export type Drop = (typeof DROPS)[number];

export interface Transition {
  state: StreamState;
  effects: readonly Effect[];
}

export interface TransitionLimits {
  maxBufferedBytes: number;
  replayTimeoutMs: number;
}

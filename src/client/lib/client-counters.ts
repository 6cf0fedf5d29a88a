/** What a client counts, for `stats()` and for Prometheus. Nothing that is left out is left out uncounted. */

import { SKIP_REASONS, type SkipReason } from "#domain";
import type { ClientReport, DropReason } from "./client-protocol.ts";

export const EVENT_TYPES = ["BlockStored", "BlockRemoved", "AllBlocksCleared"] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** `batch`: it cannot be decoded. `message`: frames of another shape, or too large. `handler`: the program's own error. */
export const ERROR_TYPES = ["batch", "message", "replay", "connection", "handler", "thread"] as const;

export type ErrorType = (typeof ERROR_TYPES)[number];

const DROP_REASONS = ["repeat", "foreign-topic", "malformed-frames", "oversized"] as const satisfies readonly DropReason[];

/** Upper bounds in seconds, Prometheus's usual ones. */
const DURATION_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export interface KvEventClientStats {
  isConnected: boolean;
  /** Batches delivered and the events in them. */
  batches: number;
  events: number;
  /** Batches that the publisher sent and that could not be replayed. */
  missedBatches: number;
  replaysAsked: number;
  replaysAnswered: number;
  replaysFailed: number;
  /** Times a connection was there again after it was lost. */
  reconnects: number;
  restarts: number;
  /** Null before the first batch. */
  lastBatchSeq: number | null;
  /** Events left out of batches that were delivered. */
  skippedEvents: Record<SkipReason, number>;
  /** Messages that were not delivered. */
  droppedMessages: Record<DropReason, number>;
}

export class ClientCounters {
  isConnected = false;
  connections = 0;
  disconnections = 0;
  reconnectAttempts = 0;
  batches = 0;
  missedBatches = 0;
  restarts = 0;
  replaysAsked = 0;
  replaysAnswered = 0;
  replaysFailed = 0;
  lastBatchSeq: number | null = null;
  readonly eventsReceived = zeros(EVENT_TYPES);
  readonly eventsProcessed = zeros(EVENT_TYPES);
  readonly errors = zeros(ERROR_TYPES);
  readonly skippedEvents = zeros(SKIP_REASONS);
  readonly droppedMessages = zeros(DROP_REASONS);
  readonly processing = new DurationHistogram();

  /** Counts what a report says by itself; batches are counted where they are decoded, errors where they are told. */
  report(report: ClientReport): void {
    switch (report.type) {
      case "batch":
        this.lastBatchSeq = report.batchSeq;
        break;
      case "dropped":
        this.droppedMessages[report.reason] += 1;
        break;
      case "gap":
        this.missedBatches += report.to - report.from + 1;
        break;
      case "restart":
        this.restarts += 1;
        break;
      case "connection":
        this.#connection(report.event);
        break;
      case "replay-asked":
        this.replaysAsked += 1;
        break;
      case "replay-answered":
        this.replaysAnswered += 1;
        break;
      case "replay-failed":
        this.replaysFailed += 1;
        break;
    }
  }

  stats(): KvEventClientStats {
    const { isConnected, batches, missedBatches, replaysAsked, replaysAnswered, replaysFailed, restarts, lastBatchSeq } = this;
    return {
      isConnected,
      batches,
      events: EVENT_TYPES.reduce((sum, type) => sum + this.eventsReceived[type], 0),
      missedBatches,
      replaysAsked,
      replaysAnswered,
      replaysFailed,
      reconnects: Math.max(0, this.connections - 1),
      restarts,
      lastBatchSeq,
      skippedEvents: { ...this.skippedEvents },
      droppedMessages: { ...this.droppedMessages },
    };
  }

  /** A lost or refused connection is tried again at once or after a backoff: each is an attempt. */
  #connection(event: (ClientReport & { type: "connection" })["event"]): void {
    switch (event) {
      case "connected":
        this.isConnected = true;
        this.connections += 1;
        break;
      case "disconnected":
        this.isConnected = false;
        this.disconnections += 1;
        this.reconnectAttempts += 1;
        break;
      case "oversized":
      case "refused":
        this.reconnectAttempts += 1;
        break;
    }
  }
}

/** Counts of durations up to each bound, as a Prometheus histogram has them. */
class DurationHistogram {
  /** Upper bound in seconds and how many were not above it. */
  readonly buckets: { boundS: number; count: number }[] = DURATION_BOUNDS_S.map((boundS) => ({ boundS, count: 0 }));
  count = 0;
  sumS = 0;

  add(durationS: number): void {
    this.count += 1;
    this.sumS += durationS;
    for (const bucket of this.buckets) if (durationS <= bucket.boundS) bucket.count += 1;
  }
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

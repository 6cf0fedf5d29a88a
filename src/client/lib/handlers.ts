/** What a program gets from a KvEventClient: batches, gaps, restarts and errors, each by a handler. */

import type { KvCacheEvent } from "#wire";
import type { ErrorType } from "./client-counters.ts";
import type { BatchSource } from "./client-protocol.ts";

export interface DeliveredBatch {
  batchSeq: number;
  /** Seconds since 1970 at the publisher; null when the batch has none. */
  timestampSeconds: number | null;
  /** Data-parallel rank: the client's, which is the socket's. */
  rank: number;
  /** A snapshot (xLLM) replaces everything that was known of this rank. */
  source: BatchSource;
  events: readonly KvCacheEvent[];
}

export interface KvEventHandlers {
  /** Called for one batch at a time; while a returned promise is pending the next batch waits. */
  onEvents(batch: DeliveredBatch): void | Promise<void>;
  /** Batches `from` to `to` were published and will not come. */
  onGap?(gap: { from: number; to: number }): void | Promise<void>;
  /** The publisher counts anew: blocks announced before are gone. */
  onRestart?(restart: { lastBatchSeq: number; foundBatchSeq: number }): void | Promise<void>;
  /**
   * What went wrong; the client goes on, except after type "thread". Without this handler errors are only counted. An error that
   * it throws itself is the program's: it is not caught.
   */
  onError?(error: KvEventClientError): void;
}

export class KvEventClientError extends Error {
  override readonly name = "KvEventClientError";
  readonly type: ErrorType;

  constructor(type: ErrorType, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

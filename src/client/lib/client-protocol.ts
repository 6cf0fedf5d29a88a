/** What a KvEventClient and its thread say to each other. */

import type { ClientSettings } from "./client-options.ts";

/** Reports that wait for the program, at most; AIBrix's channel has as many. Then the thread stops reading its sockets. */
export const QUEUE_REPORTS_MAX = 1000;

/** The same in payload bytes, for large batches; one batch may exceed it, so that a batch of any size passes. */
export const QUEUE_BYTES_MAX = 33_554_432;

/** Commands reach the thread when it looks up from its sockets; a wake-up call makes it look up. */
export type ClientCommand =
  | { type: "start"; settings: ClientSettings }
  /** The program is done with this many reports, which held this many payload bytes. */
  | { type: "handled"; reports: number; payloadBytes: number }
  | { type: "stop" };

/** Live as published, from the publisher's replay, or its whole state, which replaces all that came before. */
export type BatchSource = "live" | "replay" | "snapshot";

/** Why a message was not delivered. */
export type DropReason = "repeat" | "foreign-topic" | "malformed-frames" | "oversized";

/** Why a replay failed. */
export type ReplayFailure = "timeout" | "malformed" | "oversized" | "refused";

/** From the thread; what counts against the queue. */
export type ClientReport =
  | { type: "batch"; source: BatchSource; batchSeq: number; payload: Uint8Array<ArrayBuffer> }
  | { type: "dropped"; reason: DropReason }
  /** Batches `from` to `to` will not come. */
  | { type: "gap"; from: number; to: number }
  | { type: "restart"; lastBatchSeq: number; foundBatchSeq: number }
  | { type: "connection"; event: "connected" | "disconnected" | "oversized" | "refused" }
  | { type: "replay-asked" }
  | { type: "replay-answered" }
  | { type: "replay-failed"; reason: ReplayFailure };

/** From the thread about itself; not counted. */
export type ThreadReport =
  /** Its sockets are open; wake-up calls go to this ZeroMQ context. */
  | { type: "started"; contextAddress: number }
  /** Every socket is closed; nothing follows. */
  | { type: "stopped" };

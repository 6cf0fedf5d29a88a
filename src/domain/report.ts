/** What a stream has gone through, for whoever operates it: counts since it was added, or since its thread was started. */

import type { SkipReason } from "./kv-event.ts";
import type { StreamDescription } from "./stream.ts";
import type { UnsynchronizedReason } from "./unsynchronized.ts";

/**
 * How a stream comes by a state: from a snapshot, from a replay, or, where the engine offers neither, by beginning anew with what
 * arrives. A check is the snapshot that a synchronized stream is compared with.
 */
export const RECOVERY_KINDS = ["snapshot", "replay", "anew", "check"] as const;

export type RecoveryKind = (typeof RECOVERY_KINDS)[number];

/** Abandoned: the publisher, or the state that was to be checked, was lost meanwhile. */
export const RECOVERY_OUTCOMES = ["completed", "failed", "abandoned"] as const;

export type RecoveryOutcome = (typeof RECOVERY_OUTCOMES)[number];

export interface RecoveryEnd {
  kind: RecoveryKind;
  outcome: RecoveryOutcome;
}

export interface StreamReport {
  stream: StreamDescription;
  /** Batches decoded into the index: live ones, replayed ones, and snapshots. */
  batches: number;
  /** Their events by type, without those left out. */
  events: { stored: number; removed: number; cleared: number };
  /** Events left out of batches that were otherwise applied; reasons without any are absent. */
  skippedEvents: Partial<Record<SkipReason, number>>;
  /** Live messages and checks that were not used, by reason; reasons without any are absent. */
  drops: Partial<Record<string, number>>;
  /** Bytes found after the end of batches. */
  trailingBytes: number;
  /** Snapshots and replays asked for, and answered to the end. */
  recoveriesAsked: number;
  recoveriesAnswered: number;
  /** How recoveries and checks ended; ends without any are absent. */
  recoveries: readonly (RecoveryEnd & { count: number })[];
  /** How often it was found unsynchronized for a reason; reasons without any are absent. */
  problems: Partial<Record<UnsynchronizedReason, number>>;
  unsynchronizedMs: number;
  /**
   * From the engine's timestamp of the last live batch to its being applied, by the clocks of both machines; null before the first,
   * and where the timestamp is no time of day.
   */
  lagMs: number | null;
}

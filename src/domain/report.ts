/** What a stream has gone through, for whoever operates it: counts since it was added, or since its thread was started. */

import type { SkipReason } from "./kv-event.ts";
import type { StreamDescription } from "./stream.ts";

export interface StreamReport {
  stream: StreamDescription;
  /** Events left out of batches that were otherwise applied; reasons without any are absent. */
  skippedEvents: Partial<Record<SkipReason, number>>;
  /** Live messages and checks that were not used, by reason; reasons without any are absent. */
  drops: Partial<Record<string, number>>;
  /** Bytes found after the end of batches. */
  trailingBytes: number;
  /** Snapshots and replays asked for, and answered to the end. */
  recoveriesAsked: number;
  recoveriesAnswered: number;
}

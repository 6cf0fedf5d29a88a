/** When a snapshot and the live batches held meanwhile make a state: pure arithmetic on batch sequences. */

import { type Unsynchronized, unsynchronized } from "#domain";
import type { Effect, Recovery } from "./state.ts";

/**
 * What to do at the end marker: adopt, or why not. Batches at or below the watermark are in the snapshot; the rest must begin
 * right after it, for what lies between is lost.
 */
export function adoptWhenWhole({
  watermark,
  held,
}: Recovery): (Effect & { type: "adopt-snapshot" }) | { type: "fail"; problem: Unsynchronized } {
  if (watermark === null) return { type: "fail", problem: unsynchronized("snapshot-malformed") };
  if (held !== null && held.first > watermark + 1) {
    return { type: "fail", problem: unsynchronized("snapshot-behind", watermark, held.first) };
  }
  return { type: "adopt-snapshot", watermark };
}

/** Numbers and times as they are read. */

import { durationText, formatCount, shareText } from "#figures";

export { formatCount, formatCounted, formatScore } from "#figures";

const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

const UNITS = { seconds: " s", minutes: " min", hours: " h", days: " d" };

/** `12,345`, and `1.3M` where digits would be too many. */
export function formatShort(count: number): string {
  return count < 100_000 ? formatCount(count) : COMPACT.format(count);
}

/** `73 %`, `<1 %`. */
export function formatShare(share: number): string {
  return shareText(share, " ");
}

/** `0.4 s`, `12 s`, `3 min`, `5 h`, `2 d`. */
export function formatDuration(ms: number): string {
  return durationText(ms, UNITS);
}

/** `14:03:27`, of the reader's time zone. */
export function formatClock(atMs: number): string {
  return CLOCK.format(atMs);
}

/** Numbers and times as they are read, short enough for a column, and without spaces, so that columns stay fields. */

import { durationText, shareText } from "#figures";

export { formatCount, formatCounted, formatScore } from "#figures";

const UNITS = { seconds: "s", minutes: "m", hours: "h", days: "d" };

/** `940`, `1.2k`, `262k`, `1.0M`: four or five characters. */
export function formatShortCount(count: number): string {
  if (count < 1000) return String(count);
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1e6, "M"];
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

/** `73%`, `<1%`. */
export function formatShare(share: number): string {
  return shareText(share, "");
}

/** `0.4s`, `12s`, `3m`, `5h`, `2d`. */
export function formatDuration(ms: number): string {
  return durationText(ms, UNITS);
}

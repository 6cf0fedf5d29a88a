/** Numbers and times as people read them. */

const GROUPED = new Intl.NumberFormat("en-US");

/** `12,345`. */
export function formatCount(count: number): string {
  return GROUPED.format(count);
}

/** `1 stream`, `2 streams`. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** CAR's scores are 0 to 2, SLO_AWARE's are milliseconds. */
export function formatScore(score: number | null): string {
  if (score === null) return "–";
  return score >= 10 ? formatCount(Math.round(score)) : score.toFixed(3);
}

/** `73%`, with `gap` before the sign; what is neither nothing nor everything is never shown as such. */
export function shareText(share: number, gap: "" | " "): string {
  if (share > 0 && share < 0.01) return `<1${gap}%`;
  if (share > 0.99 && share < 1) return `>99${gap}%`;
  return `${Math.round(share * 100)}${gap}%`;
}

/** What is written behind a number of seconds, and so on. */
export interface DurationUnits {
  seconds: string;
  minutes: string;
  hours: string;
  days: string;
}

/** Two digits and a unit: `0.4s`, `12s`, `3m`, `5h`, `2d`. */
export function durationText(ms: number, units: DurationUnits): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return seconds.toFixed(1) + units.seconds;
  if (seconds < 99.5) return Math.round(seconds) + units.seconds;
  if (seconds < 5970) return Math.round(seconds / 60) + units.minutes;
  if (seconds < 172_800) return Math.round(seconds / 3600) + units.hours;
  return Math.round(seconds / 86_400) + units.days;
}

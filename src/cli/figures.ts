/** Numbers and times as they are read, short enough for a column, and without spaces, so that columns stay fields. */

const GROUPED = new Intl.NumberFormat("en-US");

/** `12,345`. */
export function formatCount(count: number): string {
  return GROUPED.format(count);
}

/** `1 stream`, `2 streams`. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `940`, `1.2k`, `262k`, `1.0M`: four or five characters. */
export function formatShortCount(count: number): string {
  if (count < 1000) return String(count);
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1e6, "M"];
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

/** `73%`; what is neither nothing nor everything is never shown as such. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.01) return "<1%";
  if (share > 0.99 && share < 1) return ">99%";
  return `${Math.round(share * 100)}%`;
}

/** `0.4s`, `12s`, `3m`, `5h`, `2d`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  if (seconds < 99.5) return `${Math.round(seconds)}s`;
  if (seconds < 5970) return `${Math.round(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}

/** CAR's scores are 0 to 2, SLO_AWARE's are milliseconds. */
export function formatScore(score: number | null): string {
  if (score === null) return "–";
  return score >= 10 ? formatCount(Math.round(score)) : score.toFixed(3);
}

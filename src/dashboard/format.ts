/** Numbers and times as they are read. */

const GROUPED = new Intl.NumberFormat("en-US");

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** `12,345`. */
export function formatCount(count: number): string {
  return GROUPED.format(count);
}

const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** `12,345`, and `1.3M` where digits would be too many. */
export function formatShort(count: number): string {
  return count < 100_000 ? formatCount(count) : COMPACT.format(count);
}

/** `1 stream`, `2 streams`. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `73 %`; what is neither nothing nor everything is never shown as such. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.01) return "<1 %";
  if (share > 0.99 && share < 1) return ">99 %";
  return `${Math.round(share * 100)} %`;
}

/** `0.4 s`, `12 s`, `3 min`, `5 h`, `2 d`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 99.5) return `${Math.round(seconds)} s`;
  if (seconds < 5970) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** `14:03:27`, of the reader's time zone. */
export function formatClock(atMs: number): string {
  return CLOCK.format(atMs);
}

/** CAR's scores are 0 to 2, SLO_AWARE's are milliseconds. */
export function formatScore(score: number | null): string {
  if (score === null) return "–";
  return score >= 10 ? formatCount(Math.round(score)) : score.toFixed(3);
}

/** Delays between tries of something that must never stop trying. */

export interface BackoffLimits {
  firstMs: number;
  maxMs: number;
}

/**
 * Milliseconds to wait before try number `attempt` (1 is the first retry): doubles from `firstMs` up to `maxMs`, then
 * jittered down by as much as a quarter so that many streams do not ask in step. `random` is in [0, 1).
 */
export function backoffDelayMs(attempt: number, limits: BackoffLimits, random: number): number {
  const doubled = limits.firstMs * 2 ** Math.min(Math.max(attempt - 1, 0), 30);
  return Math.round(Math.min(doubled, limits.maxMs) * (1 - random / 4));
}

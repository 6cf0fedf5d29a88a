/** When a request that Warmpath could not serve is tried again: a pure decision from its answer. */

import { backoffDelayMs } from "#base";

export interface RetryLimits {
  /** Tries in all; 1: none is repeated. */
  attemptsMax: number;
  /** The wait before the second try; it doubles from one to the next. */
  firstMs: number;
  /** The longest wait; an answer that asks for a longer one is final. */
  maxMs: number;
}

/** Past the second that Warmpath asks for while it starts, and an end within seconds while it stays full. */
export const DEFAULT_RETRY_LIMITS: RetryLimits = { attemptsMax: 4, firstMs: 100, maxMs: 5000 };

const UNAVAILABLE = 503;

export interface Attempt {
  /** From 1. */
  number: number;
  /** Path of the request's URL. */
  path: string;
  status: number;
  /** The header `Retry-After`. */
  retryAfter: string | null;
}

/**
 * Milliseconds until the next try, or null when this answer is final. Only 503 is tried again: what answers it has done nothing.
 * What `Retry-After` asks for is waited in full, and the backoff beyond it, so that many clients do not come back at once. A probe
 * of readiness asks how it is now, so its 503 is final. `nowMs` is the time of day, `random` is in [0, 1).
 */
export function retryDelayMs(attempt: Attempt, limits: RetryLimits, nowMs: number, random: number): number | null {
  if (attempt.status !== UNAVAILABLE || attempt.number >= limits.attemptsMax || attempt.path.endsWith("/readyz")) return null;
  const askedMs = readRetryAfterMs(attempt.retryAfter, nowMs);
  if (askedMs > limits.maxMs) return null;
  return Math.min(askedMs + backoffDelayMs(attempt.number, limits, random), limits.maxMs);
}

/** Seconds or a date (RFC 9110, 10.2.3) as milliseconds from now; 0 when it is absent, over or neither. */
function readRetryAfterMs(retryAfter: string | null, nowMs: number): number {
  if (retryAfter === null) return 0;
  const askedMs = /^\s*\d+\s*$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMs;
  return Math.max(askedMs || 0, 0);
}

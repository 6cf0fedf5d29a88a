/** `fetch` with a time limit, and another try where `retry.ts` says so. The caller's signal ends it at any point. */

import { setTimeout } from "node:timers/promises";
import { type RetryLimits, retryDelayMs } from "./retry.ts";

/** One request and its answer, as `fetch` does it; a try that is repeated calls it again. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface RetryingFetchOptions {
  fetch: Fetch;
  retry: RetryLimits;
  /** Milliseconds for one try, the answer's body included. */
  timeoutMs: number;
  /** Resolves after that time; rejects with the signal's reason. */
  wait?: (delayMs: number, signal: AbortSignal | null) => Promise<void>;
  random?: () => number;
}

/**
 * Returns such a `fetch`, for bodies that can be sent again: texts and bytes. It gives the last answer, whatever its status;
 * rejects as `fetch` does when there is none, with a TimeoutError when it takes too long, or with the signal's reason.
 */
export function createRetryingFetch(options: RetryingFetchOptions): Fetch {
  const { fetch, retry, timeoutMs, wait = waitFor, random = Math.random } = options;
  return async (url, init) => {
    const { pathname: path } = new URL(url);
    const signal = init.signal ?? null;
    for (let number = 1; ; number++) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const response = await fetch(url, { ...init, signal: signal === null ? timeout : AbortSignal.any([signal, timeout]) });
      const { status, headers } = response;
      const delayMs = retryDelayMs({ number, path, status, retryAfter: headers.get("retry-after") }, retry, Date.now(), random());
      if (delayMs === null) return response;
      await response.body?.cancel();
      await wait(delayMs, signal);
    }
  };
}

async function waitFor(delayMs: number, signal: AbortSignal | null): Promise<void> {
  try {
    await setTimeout(delayMs, undefined, signal === null ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

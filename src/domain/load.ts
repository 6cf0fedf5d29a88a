/** How busy an instance says it is. */

/** Where a report came from: the instance itself, xLLM's master through etcd, or a look at the engine's own metrics. */
export const LOAD_ORIGINS = ["heartbeat", "etcd", "scrape"] as const;

export type LoadOrigin = (typeof LOAD_ORIGINS)[number];

export interface LoadReport {
  /** Requests that wait in the instance's queue. */
  waitingRequests: number;
  /** Share of the device's KV cache in use, 0 to 1. */
  cacheUsage: number;
}

/** The longest times of late, as an instance measured them. */
export interface LatencyReport {
  ttftMs: number;
  /** Between two tokens. */
  tbtMs: number;
}

/** What is wrong with a report, for the person on call; null for a valid one. */
export function loadProblem({ waitingRequests, cacheUsage }: LoadReport): string | null {
  if (!(Number.isFinite(waitingRequests) && waitingRequests >= 0)) {
    return `waiting_requests_num is ${waitingRequests}, a number from 0 is needed`;
  }
  if (!(cacheUsage >= 0 && cacheUsage <= 1)) return `gpu_cache_usage_perc is ${cacheUsage}, a number from 0 to 1 is needed`;
  return null;
}

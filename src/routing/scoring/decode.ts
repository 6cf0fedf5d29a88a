/** CAR's cost of decoding somewhere. */

/** `gpu_cache_usage_perc + queue_cost`, 0 to 2; a prompt's prefix counts nothing here. Source: "CAR scoring" of xLLM service's KV events. */
export function decodeScore(cacheUsage: number, queueCost: number): number {
  return cacheUsage + queueCost;
}

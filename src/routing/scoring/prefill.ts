/** CAR's cost of prefilling somewhere. */

/**
 * `λ·(1 − kv_hit_ratio) + (1 − λ)·queue_cost`, 0 to 1. λ 0 compares queues only, λ 1 what must be computed only. Source: "CAR
 * scoring" of xLLM service's KV events.
 */
export function prefillScore(kvHitRatio: number, queueCost: number, lambda: number): number {
  return lambda * (1 - kvHitRatio) + (1 - lambda) * queueCost;
}

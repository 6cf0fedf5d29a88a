/**
 * What an engine's own metrics say of its load. An instance with several data-parallel ranks has one queue and one cache a
 * rank: waiting requests add up, usage is the mean, so that it stays within 0 to 1. Other label sets of one rank (tensor or
 * pipeline ranks, API server processes, model names) tell the same thing again: the largest of them counts.
 */

import type { LoadReport } from "#domain";
import type { MetricSample } from "./exposition.ts";

/** The engines whose metrics are known. An xLLM instance tells its load itself. */
export type ScrapedEngine = "vllm" | "sglang";

interface EngineMetrics {
  /** Names of one metric, in the order of preference: the present one first. */
  waiting: readonly [string, ...string[]];
  usage: readonly [string, ...string[]];
  /** The label that sets data-parallel ranks apart; without it there is one rank. */
  rankLabel: string;
  /** A label that, when it is not empty, breaks a rank's total down: such samples are parts of what is counted already. */
  partLabel: string | null;
  /** Usage when the page has none; null: the load is not known then. */
  usageIfAbsent: number | null;
}

const METRICS: Record<ScrapedEngine, EngineMetrics> = {
  vllm: {
    waiting: ["vllm:num_requests_waiting"],
    // Until 0.9.1 only the second, from 0.12 only the first, between them both with equal values.
    usage: ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"],
    rankLabel: "engine",
    partLabel: null,
    // As xLLM's sidecar for vLLM reports it.
    usageIfAbsent: 0,
  },
  sglang: {
    // With underscores as gateways show them that know no colons.
    waiting: ["sglang:num_queue_reqs", "sglang_num_queue_reqs"],
    usage: ["sglang:token_usage", "sglang_token_usage"],
    rankLabel: "dp_rank",
    // With priority scheduling the total has priority="", and each priority has a sample beside it.
    partLabel: "priority",
    usageIfAbsent: null,
  },
};

/** `reason` is a clause for the person on call. */
export type EngineLoad = { kind: "known"; report: LoadReport } | { kind: "unknown"; reason: string };

/** The families that `engineLoad` reads. */
export function loadFamilies(engine: ScrapedEngine): readonly string[] {
  return [...METRICS[engine].waiting, ...METRICS[engine].usage];
}

/**
 * The load that the samples tell. Values that are no finite numbers do not count; whether the others are in range is for
 * whoever keeps the report to judge.
 */
export function engineLoad(engine: ScrapedEngine, samples: readonly MetricSample[]): EngineLoad {
  const { waiting, usage, usageIfAbsent } = METRICS[engine];
  const waitingByRank = valueByRank(samples, waiting, METRICS[engine]);
  if (waitingByRank === null) return { kind: "unknown", reason: `no ${waiting[0]} in /metrics` };
  const usageByRank = valueByRank(samples, usage, METRICS[engine]);
  const cacheUsage = usageByRank === null ? usageIfAbsent : sum(usageByRank) / usageByRank.length;
  if (cacheUsage === null) return { kind: "unknown", reason: `no ${usage[0]} in /metrics` };
  return { kind: "known", report: { waitingRequests: sum(waitingByRank), cacheUsage } };
}

/** A value for each rank, of the first name that has any; null when none has. */
function valueByRank(samples: readonly MetricSample[], names: readonly string[], metrics: EngineMetrics): number[] | null {
  for (const name of names) {
    const byRank = new Map<string, number>();
    for (const { family, labels, value } of samples) {
      if (family !== name || !Number.isFinite(value) || isPart(labels, metrics.partLabel)) continue;
      const rank = labels.get(metrics.rankLabel) ?? "";
      byRank.set(rank, Math.max(value, byRank.get(rank) ?? value));
    }
    if (byRank.size > 0) return [...byRank.values()];
  }
  return null;
}

function isPart(labels: ReadonlyMap<string, string>, partLabel: string | null): boolean {
  return partLabel !== null && (labels.get(partLabel) ?? "") !== "";
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

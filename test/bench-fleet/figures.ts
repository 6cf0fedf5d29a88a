/** From a run's outcome to the figures that are compared. */

import { Checksum } from "../bench/checksum.ts";
import type { BestPossible } from "./best-possible.ts";
import type { Outcome } from "./simulation.ts";
import type { Trace } from "./trace.ts";

export interface Quantiles {
  p50: number;
  p90: number;
  p99: number;
}

/** How unevenly something lies over the instances. */
export interface Spread {
  /** Standard deviation over the mean. */
  variation: number;
  maxOverMean: number;
}

/** What a router is judged by, and the bound that it cannot reach. */
export interface CacheFigures {
  /** Of all prompt tokens those that needed no computing, 0 to 1. */
  cachedShare: number;
  ttftMs: Quantiles;
}

export interface RunFigures extends CacheFigures {
  queueMean: number;
  queueP99: number;
  requestSpread: Spread;
  /** Instances that no request was sent to. */
  unusedInstances: number;
  /** Of the tokens that had to be computed. */
  computedSpread: Spread;
  /** Share of the fleet's time that went into prefilling. */
  prefillShare: number;
  /** Of every request's placement, cached tokens and time to the first token. */
  digest: string;
}

export function runFigures(trace: Trace, outcome: Outcome): RunFigures {
  const { placements, cachedTokens, ttftMs, queueLengths, prefillBusyMs, durationMs } = outcome;
  const requests = prefillBusyMs.map(() => 0);
  const computed = prefillBusyMs.map(() => 0);
  for (const { id, inputTokens } of trace.requests) {
    requests[placements[id]] += 1;
    computed[placements[id]] += inputTokens - cachedTokens[id];
  }
  return {
    ...cacheFigures(trace, outcome),
    queueMean: mean(queueLengths),
    queueP99: quantile(queueLengths.toSorted(ascending), 0.99),
    requestSpread: spread(requests),
    unusedInstances: requests.filter((count) => count === 0).length,
    computedSpread: spread(computed),
    prefillShare: mean(prefillBusyMs) / durationMs,
    digest: new Checksum()
      .add(...placements)
      .add(...cachedTokens)
      .add(...ttftMs.map((ms) => Math.round(ms * 1000)))
      .toString(),
  };
}

export function cacheFigures({ requests }: Trace, { cachedTokens, ttftMs }: BestPossible): CacheFigures {
  const sorted = ttftMs.toSorted(ascending);
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantile(sorted, share));
  return { cachedShare: sum(cachedTokens) / sum(requests.map(({ inputTokens }) => inputTokens)), ttftMs: { p50, p90, p99 } };
}

/** Each figure's median over the runs of different seeds, and a digest of theirs; there is at least one run. */
export function medianFigures(runs: readonly RunFigures[]): RunFigures {
  const median = (read: (figures: RunFigures) => number) => quantile(runs.map(read).toSorted(ascending), 0.5);
  const medianSpread = (read: (figures: RunFigures) => Spread) => ({
    variation: median((figures) => read(figures).variation),
    maxOverMean: median((figures) => read(figures).maxOverMean),
  });
  return {
    cachedShare: median(({ cachedShare }) => cachedShare),
    ttftMs: {
      p50: median(({ ttftMs }) => ttftMs.p50),
      p90: median(({ ttftMs }) => ttftMs.p90),
      p99: median(({ ttftMs }) => ttftMs.p99),
    },
    queueMean: median(({ queueMean }) => queueMean),
    queueP99: median(({ queueP99 }) => queueP99),
    requestSpread: medianSpread(({ requestSpread }) => requestSpread),
    unusedInstances: median(({ unusedInstances }) => unusedInstances),
    computedSpread: medianSpread(({ computedSpread }) => computedSpread),
    prefillShare: median(({ prefillShare }) => prefillShare),
    digest: new Checksum().add(...runs.map(({ digest }) => Number.parseInt(digest, 16))).toString(),
  };
}

/** The sample that `share` of all, of which there is at least one, do not exceed. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export function spread(amounts: readonly number[]): Spread {
  const average = mean(amounts);
  if (average === 0) return { variation: 0, maxOverMean: 0 };
  const variance = mean(amounts.map((amount) => (amount - average) ** 2));
  return { variation: Math.sqrt(variance) / average, maxOverMean: Math.max(...amounts) / average };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function ascending(left: number, right: number): number {
  return left - right;
}

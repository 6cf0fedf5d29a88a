import { describe, expect, test } from "bun:test";
import { bestPossible } from "./best-possible.ts";
import { prefillMs } from "./engine-model.ts";
import { cacheFigures, medianFigures, quantile, runFigures, spread } from "./figures.ts";
import { BLOCK_TOKENS, parseTrace } from "./trace.ts";

const trace = parseTrace(
  "synthetic",
  [
    [1, 2, 3],
    [1, 2, 4],
    [5, 2, 4],
    [1, 2, 4],
  ].map((hash_ids, timestamp) => ({ timestamp, input_length: 3 * BLOCK_TOKENS, output_length: 1, hash_ids })),
);

const outcome = {
  placements: [0, 0, 1, 1],
  cachedTokens: [0, 2 * BLOCK_TOKENS, 0, 0],
  ttftMs: [100, 200, 300, 400],
  queueLengths: [0, 0, 1, 3],
  prefillBusyMs: [30, 50],
  durationMs: 100,
};

describe("bestPossible", () => {
  test("Every prompt finds what any before it had, but for its last token's block", () => {
    const { cachedTokens, ttftMs } = bestPossible(trace);
    expect(cachedTokens).toEqual([0, 2 * BLOCK_TOKENS, 0, 2 * BLOCK_TOKENS]);
    expect(ttftMs[1]).toBe(prefillMs(3 * BLOCK_TOKENS, 2 * BLOCK_TOKENS));
  });
});

describe("Figures", () => {
  test("A run's figures are those worked out by hand", () => {
    const figures = runFigures(trace, outcome);
    expect(figures.cachedShare).toBeCloseTo(2 / 12, 12);
    expect(figures.ttftMs).toEqual({ p50: 200, p90: 400, p99: 400 });
    expect([figures.queueMean, figures.queueP99, figures.prefillShare]).toEqual([1, 3, 0.4]);
    expect(figures.requestSpread).toEqual({ variation: 0, maxOverMean: 1 });
    expect(figures.unusedInstances).toBe(0);
    expect(runFigures(trace, { ...outcome, placements: [1, 1, 1, 1] }).unusedInstances).toBe(1);
    // 4 blocks and 6: 1 off a mean of 5.
    expect(figures.computedSpread).toEqual({ variation: 0.2, maxOverMean: 1.2 });
  });

  test("A digest tells runs apart by placement, cached tokens and times", () => {
    const digests = [
      outcome,
      { ...outcome, placements: [0, 1, 0, 1] },
      { ...outcome, cachedTokens: [0, 0, 0, 0] },
      { ...outcome, ttftMs: [100, 200, 300, 400.001] },
    ].map((changed) => runFigures(trace, changed).digest);
    expect(new Set(digests).size).toBe(4);
    expect(runFigures(trace, { ...outcome }).digest).toBe(digests[0]);
  });

  test("The median of runs is taken figure by figure", () => {
    const runs = [3, 1, 2].map((factor) => runFigures(trace, { ...outcome, ttftMs: outcome.ttftMs.map((ms) => ms * factor) }));
    const median = medianFigures([{ ...runs[0], queueMean: 0 }, runs[1], runs[2]]);
    expect(median.ttftMs).toEqual({ p50: 400, p90: 800, p99: 800 });
    expect(median.queueMean).toBe(1);
    expect(median.digest).not.toBe(medianFigures(runs.toReversed()).digest);
  });

  test("A quantile is a sample that the share does not exceed", () => {
    const samples = Array.from({ length: 100 }, (_, place) => place + 1);
    expect([0, 0.5, 0.99, 1].map((share) => quantile(samples, share))).toEqual([1, 50, 99, 100]);
    expect(quantile([7], 0.5)).toBe(7);
  });

  test("Nothing at all is spread evenly", () => {
    expect(spread([0, 0])).toEqual({ variation: 0, maxOverMean: 0 });
    expect(spread([0, 4])).toEqual({ variation: 1, maxOverMean: 2 });
  });

  test("The bound has the figures of its own times", () => {
    const { cachedShare, ttftMs } = cacheFigures(trace, bestPossible(trace));
    expect(cachedShare).toBeCloseTo(4 / 12, 12);
    expect(ttftMs.p99).toBe(prefillMs(3 * BLOCK_TOKENS, 0));
  });
});

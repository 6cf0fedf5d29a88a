import { beforeAll, describe, expect, test } from "bun:test";
import { type Arrivals, compare, type Result, SMALL_PLAN } from "./comparison.ts";
import type { RunFigures } from "./figures.ts";
import { drawPlots } from "./plots.ts";
import { formatLosses, formatResults, formatSummary } from "./report.ts";
import { ROUTER_NAMES, type RouterName } from "./routers.ts";

describe("The comparison at small scale", () => {
  let results: Result[];

  beforeAll(async () => {
    results = await Array.fromAsync(compare(SMALL_PLAN));
  }, 30_000);

  function figuresOf({ runs }: Result, router: RouterName): RunFigures | undefined {
    return runs.find((run) => run.router === router)?.figures;
  }

  test("Every setting is answered in order, by every router", () => {
    expect(results.map(({ setting }) => setting)).toEqual([...SMALL_PLAN.settings]);
    for (const { runs } of results) expect(runs.map(({ router }) => router)).toEqual([...ROUTER_NAMES]);
  });

  test("CAR finds more in caches than a router that knows nothing of them, where the fleet keeps up", () => {
    // As recorded, requests come four times as fast as two instances can serve them, and queues decide everything.
    const kept = results.filter(({ setting }) => setting.arrivals.kind !== "recorded");
    for (const result of kept) {
      const [roundRobin, leastLoad, aware] = ROUTER_NAMES.map((router) => figuresOf(result, router)?.cachedShare ?? Number.NaN);
      expect(aware).toBeGreaterThan(Math.max(roundRobin, leastLoad));
    }
    expect(kept).toHaveLength(9);
  });

  test("No router finds more in caches than is possible", () => {
    for (const { runs, best } of results) {
      for (const { figures } of runs) expect(figures.cachedShare).toBeLessThanOrEqual(best.cachedShare);
    }
  });

  test("A second run computes the same", async () => {
    const settings = SMALL_PLAN.settings.slice(0, 1);
    const [again] = await Array.fromAsync(compare({ ...SMALL_PLAN, settings }));
    expect(again).toEqual(results[0]);
  });

  test("The table has a row for each run and each bound", () => {
    const rows = formatResults(results).split("\n");
    expect(rows).toHaveLength(2 + results.length * (ROUTER_NAMES.length + 1));
    expect(new Set(rows.map((row) => row.split("|").length)).size).toBe(1);
    expect(formatSummary(results).split("\n")).toHaveLength(2 + 4);
  });

  test("There is a picture of each trace", () => {
    const plots = drawPlots(results);
    expect(plots.map(({ fileName }) => fileName)).toEqual(["conversation.svg", "synthetic.svg"]);
    for (const { svg } of plots) {
      // Two loads, four quantities, a line for each router and the bound.
      expect(svg.match(/<path d="M[^h]+" fill="none"/g)).toHaveLength(2 * 4 * (ROUTER_NAMES.length + 1));
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    }
  });
});

describe("formatLosses", () => {
  function resultOf(arrivals: Arrivals, p50: Record<RouterName, number[]>): Result {
    const figures = (ms: number): RunFigures => ({
      cachedShare: 0.5,
      ttftMs: { p50: ms, p90: 1, p99: 1 },
      queueMean: 0,
      queueP99: 0,
      requestSpread: { variation: 0, maxOverMean: 1 },
      unusedInstances: 0,
      computedSpread: { variation: 0, maxOverMean: 1 },
      prefillShare: 0,
      digest: "00000000",
    });
    const runs = ROUTER_NAMES.map((router) => ({
      router,
      figures: figures(p50[router][1]),
      bySeed: p50[router].map(figures),
    }));
    return { setting: { trace: "synthetic", instances: 4, arrivals }, speed: 1, best: figures(1), runs };
  }

  test("A CAR that is slower than another router is named, with the range of its times", () => {
    const result = resultOf(
      { kind: "scaled", utilisation: 0.7 },
      { RR: [900, 900, 900], "least load": [400, 500, 510], CAR: [590, 600, 1234], "CAR + in flight + predicted": [1, 2, 3] },
    );
    expect(formatLosses([result])).toBe(
      "- synthetic, 4 instances, load 0.7: p50 CAR 600 ms (590 to 1,234), least load 500 ms (400 to 510)",
    );
  });

  test("Equal times are no loss", () => {
    const times = [5, 5, 5];
    const same = { RR: times, "least load": times, CAR: times, "CAR + in flight + predicted": times };
    expect(formatLosses([resultOf({ kind: "recorded" }, same)])).toBe("");
  });
});

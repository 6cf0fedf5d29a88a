import { beforeAll, describe, expect, test } from "bun:test";
import { bestPossible } from "./best-possible.ts";
import { prefillMs, workMs } from "./engine-model.ts";
import { runFigures } from "./figures.ts";
import { ROUTER_NAMES } from "./routers.ts";
import { type Scenario, simulate, speedFor } from "./simulation.ts";
import { readTrace, type Trace } from "./trace.ts";

describe("A simulation", () => {
  let trace: Trace;
  let base: Omit<Scenario, "router">;

  beforeAll(async () => {
    trace = await readTrace("conversation", 400);
    base = { trace, instances: 3, speed: speedFor(trace, 3, 0.9), seed: 7 };
  });

  test("Every request gets its answer, not sooner than its prefill takes, and no more from caches than any router could get", async () => {
    const best = bestPossible(trace);
    for (const router of ROUTER_NAMES) {
      const { placements, cachedTokens, ttftMs } = await simulate({ ...base, router });
      expect(placements.every((place) => place >= 0 && place < 3)).toBe(true);
      for (const { id, inputTokens } of trace.requests) {
        expect(ttftMs[id]).toBeGreaterThan(prefillMs(inputTokens, cachedTokens[id]) - 1e-6);
        expect(cachedTokens[id]).toBeLessThanOrEqual(best.cachedTokens[id]);
      }
    }
  });

  test("The same seed gives the same outcome, another one another", async () => {
    const digest = async (changes: Partial<Scenario>): Promise<string> =>
      runFigures(trace, await simulate({ ...base, router: "CAR", ...changes })).digest;
    const first = await digest({});
    expect(await digest({})).toBe(first);
    expect(await digest({ seed: 8 })).not.toBe(first);
  });

  test("A fleet that is never short of time keeps nobody waiting for others", async () => {
    // At most 28 requests come at once, and a minute passes until the next.
    const { cachedTokens, ttftMs, queueLengths } = await simulate({ ...base, speed: 0.05, instances: 32, router: "RR" });
    for (const { id, inputTokens } of trace.requests) {
      expect(ttftMs[id]).toBeCloseTo(prefillMs(inputTokens, cachedTokens[id]), 3);
    }
    expect(queueLengths.every((length) => length === 0)).toBe(true);
  });

  test("An instance alone serves all routers the same", async () => {
    const alone = { ...base, instances: 1, speed: speedFor(trace, 1, 0.7) };
    const digests: string[] = [];
    for (const router of ROUTER_NAMES) digests.push(runFigures(trace, await simulate({ ...alone, router })).digest);
    expect(new Set(digests).size).toBe(1);
  });

  test("The speed for a utilisation offers that much work in the fleet's time", () => {
    const work = trace.requests.reduce((sum, request) => sum + workMs(request), 0);
    const durationMs = trace.requests[399].arrivalMs / speedFor(trace, 3, 0.9);
    expect(work / (3 * durationMs)).toBeCloseTo(0.9, 9);
  });
});

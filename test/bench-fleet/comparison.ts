/** What is compared: every router in the same settings, each beside the best that is possible. */

import { assert } from "#base";
import { bestPossible } from "./best-possible.ts";
import { type CacheFigures, cacheFigures, medianFigures, type RunFigures, runFigures } from "./figures.ts";
import { ROUTER_NAMES, type RouterName } from "./routers.ts";
import { simulate, speedFor } from "./simulation.ts";
import { readTrace, spreadArrivals, TRACE_NAMES, type Trace, type TraceName } from "./trace.ts";

/** When requests come: offered a utilisation at the trace's own pattern, the same spread out, or exactly as recorded. */
export type Arrivals = { kind: "scaled" | "spread"; utilisation: number } | { kind: "recorded" };

interface Setting {
  trace: TraceName;
  instances: number;
  arrivals: Arrivals;
}

export interface Run {
  router: RouterName;
  /** Medians over the seeds. */
  figures: RunFigures;
  /** By seed: a router that reads loads may fare otherwise when these come a little earlier or later. */
  bySeed: readonly RunFigures[];
}

export interface Result {
  setting: Setting;
  /** How many times faster than recorded the requests came. */
  speed: number;
  best: CacheFigures;
  /** In the order of the routers. */
  runs: Run[];
}

/** How much is simulated: everything, or the traces' beginnings within the tests. */
export interface Plan {
  requestsMax: number;
  settings: readonly Setting[];
  /** At least one. */
  seeds: readonly number[];
}

const FLEET_SIZES = [4, 8, 16, 64];

/** A fleet that has some room, and one that could not keep up without caches. */
export const UTILISATIONS = [0.7, 1];

/** The fleet that the traces come nearest to loading as they are. */
const RECORDED_FLEET_SIZE = 8;

export const FULL_PLAN: Plan = {
  seeds: [1, 2, 3],
  requestsMax: Number.POSITIVE_INFINITY,
  settings: [
    ...UTILISATIONS.flatMap((utilisation) => settingsFor(TRACE_NAMES, FLEET_SIZES, { kind: "scaled", utilisation })),
    ...settingsFor(TRACE_NAMES, [RECORDED_FLEET_SIZE], { kind: "recorded" }),
    // The other trace has hardly two requests at one time.
    ...settingsFor(["conversation"], FLEET_SIZES, { kind: "spread", utilisation: UTILISATIONS[0] }),
  ],
};

export const SMALL_PLAN: Plan = {
  seeds: [1, 2],
  requestsMax: 500,
  settings: [
    ...UTILISATIONS.flatMap((utilisation) => settingsFor(TRACE_NAMES, [2, 4], { kind: "scaled", utilisation })),
    ...settingsFor(TRACE_NAMES, [2], { kind: "recorded" }),
    ...settingsFor(["conversation"], [4], { kind: "spread", utilisation: UTILISATIONS[0] }),
  ],
};

/** The results of the plan's settings, each when it is known. */
export async function* compare({ requestsMax, settings, seeds }: Plan): AsyncGenerator<Result, void> {
  const traces = await Promise.all(TRACE_NAMES.map((name) => readTrace(name, requestsMax)));
  for (const setting of settings) {
    const recorded = traces.find(({ name }) => name === setting.trace);
    assert(recorded !== undefined, `the ${setting.trace} trace is read`);
    yield await compareRouters(setting, recorded, seeds);
  }
}

async function compareRouters(setting: Setting, recorded: Trace, seeds: readonly number[]): Promise<Result> {
  const { instances, arrivals } = setting;
  const trace = arrivals.kind === "spread" ? spreadArrivals(recorded) : recorded;
  const speed = arrivals.kind === "recorded" ? 1 : speedFor(trace, instances, arrivals.utilisation);
  const runs: Run[] = [];
  for (const router of ROUTER_NAMES) {
    const bySeed: RunFigures[] = [];
    for (const seed of seeds) bySeed.push(runFigures(trace, await simulate({ trace, instances, speed, router, seed })));
    runs.push({ router, figures: medianFigures(bySeed), bySeed });
  }
  return { setting, speed, best: cacheFigures(trace, bestPossible(trace)), runs };
}

function settingsFor(traces: readonly TraceName[], sizes: readonly number[], arrivals: Arrivals): Setting[] {
  return traces.flatMap((trace) => sizes.map((instances) => ({ trace, instances, arrivals })));
}

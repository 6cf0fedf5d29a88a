/** One run: a trace through one router to a fleet of simulated engines, in virtual time. Equal scenarios give equal outcomes. */

import { SeededRandom } from "#sim";
import { workMs } from "./engine-model.ts";
import { FleetIndex } from "./fleet-index.ts";
import { instanceNames, ObservedFleet } from "./observed-fleet.ts";
import { createRouter, type RouterName, usesIndex } from "./routers.ts";
import { SimulatedEngine } from "./simulated-engine.ts";
import { type Trace, traceDurationMs } from "./trace.ts";
import { VirtualTime } from "./virtual-time.ts";

/** How often engines report their load, as xLLM's do; each at its own moment, which the seed tells. */
const HEARTBEAT_MS = 500;

/** From a change in an engine's cache to its being in the index: publishing, the network, decoding. */
const EVENT_DELAY_MS = 10;

export interface Scenario {
  trace: Trace;
  instances: number;
  /** How many times faster than in the trace requests come. */
  speed: number;
  router: RouterName;
  seed: number;
}

export interface Outcome {
  /** By request. */
  placements: number[];
  cachedTokens: number[];
  ttftMs: number[];
  /** Requests that wait at an instance, each time that it reports before the last request's first token. */
  queueLengths: number[];
  /** By instance: time spent prefilling. */
  prefillBusyMs: number[];
  /** From the first arrival to the last first token. */
  durationMs: number;
}

/**
 * The speed at which the fleet is offered this utilisation: the time that all requests would take of engines without caches, over
 * the time that the fleet has from the first arrival to the last.
 */
export function speedFor(trace: Trace, instances: number, utilisation: number): number {
  const offeredMs = trace.requests.reduce((sum, request) => sum + workMs(request), 0);
  return (utilisation * instances * traceDurationMs(trace)) / offeredMs;
}

export async function simulate({ trace, instances, speed, router: routerName, seed }: Scenario): Promise<Outcome> {
  const time = new VirtualTime();
  const names = instanceNames(instances);
  const fleet = new ObservedFleet(names);
  const index = usesIndex(routerName) ? await FleetIndex.create(trace.blocks, names) : null;
  const router = createRouter(routerName, fleet, index);
  const outcome: Outcome = {
    placements: [],
    cachedTokens: [],
    ttftMs: [],
    queueLengths: [],
    prefillBusyMs: [],
    durationMs: 0,
  };
  const [{ arrivalMs: startMs }] = trace.requests;
  const arrivalMs = trace.requests.map((request) => (request.arrivalMs - startMs) / speed);
  let unanswered = trace.requests.length;

  const engines = names.map(
    (_, place) =>
      new SimulatedEngine(time, {
        cacheChanged: (changes) => {
          if (index !== null) time.after(EVENT_DELAY_MS, () => index.apply(place, changes));
        },
        firstToken: ({ id }, cachedTokens) => {
          unanswered -= 1;
          outcome.cachedTokens[id] = cachedTokens;
          outcome.ttftMs[id] = time.nowMs - arrivalMs[id];
          outcome.durationMs = time.nowMs;
        },
      }),
  );

  const beat = (place: number) => {
    if (unanswered === 0) return;
    const { load } = engines[place];
    outcome.queueLengths.push(load.waitingRequests);
    fleet.report(place, load, time.nowMs);
    time.after(HEARTBEAT_MS, () => beat(place));
  };
  const random = new SeededRandom(seed);
  for (let place = 0; place < instances; place++) time.at(random.integerBelow(HEARTBEAT_MS), () => beat(place));

  const arrive = (next: number) => {
    const request = trace.requests[next];
    const place = router.choose(request, time.nowMs);
    outcome.placements[request.id] = place;
    engines[place].submit(request);
    if (next + 1 < trace.requests.length) time.at(arrivalMs[next + 1], () => arrive(next + 1));
  };
  time.at(0, () => arrive(0));
  time.runAll();
  outcome.prefillBusyMs = engines.map(({ prefillBusyMs }) => prefillBusyMs);
  return outcome;
}

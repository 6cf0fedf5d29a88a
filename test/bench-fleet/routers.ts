/** The ways of choosing an instance that are compared: Warmpath's policies as they are, and the least loaded instance as a baseline. */

import { assert } from "#base";
import { CacheAware, type CacheAwareOptions, type Policy, RoundRobin } from "#routing";
import type { FleetIndex } from "./fleet-index.ts";
import type { ObservedFleet } from "./observed-fleet.ts";
import type { TracedRequest } from "./trace.ts";

export interface Router {
  /** The place of the instance that the request goes to. */
  choose(request: TracedRequest, nowMs: number): number;
}

export const ROUTER_NAMES = ["RR", "least load", "CAR", "CAR + in flight + predicted"] as const;

export type RouterName = (typeof ROUTER_NAMES)[number];

/** Warmpath's defaults. */
const CAR_DEFAULTS: CacheAwareOptions = {
  prefillLambda: 0.5,
  hostHitWeight: 0.5,
  diskHitWeight: 0.25,
  trackInFlight: false,
  predictionWindowMs: 0,
};

/** The window is longer than nearly every wait for a prefill and its end. */
const CAR_WITH_BOTH: CacheAwareOptions = { ...CAR_DEFAULTS, trackInFlight: true, predictionWindowMs: 10_000 };

/** Whether the router reads the index, which must then be given to `createRouter`. */
export function usesIndex(name: RouterName): boolean {
  return name === "CAR" || name === "CAR + in flight + predicted";
}

export function createRouter(name: RouterName, fleet: ObservedFleet, index: FleetIndex | null): Router {
  switch (name) {
    case "RR":
      return new PolicyRouter(new RoundRobin(), fleet, null);
    case "least load":
      return new LeastLoad(fleet);
    case "CAR":
      return new PolicyRouter(new CacheAware(CAR_DEFAULTS), fleet, index);
    case "CAR + in flight + predicted":
      return new PolicyRouter(new CacheAware(CAR_WITH_BOTH), fleet, index);
  }
}

/** One of Warmpath's policies, given what a service would give it. How the requests fare is not reported to it. */
class PolicyRouter implements Router {
  readonly #policy: Policy;
  readonly #fleet: ObservedFleet;
  readonly #index: FleetIndex | null;

  constructor(policy: Policy, fleet: ObservedFleet, index: FleetIndex | null) {
    this.#policy = policy;
    this.#fleet = fleet;
    this.#index = index;
  }

  choose(request: TracedRequest, nowMs: number): number {
    const { tokens, matches } = this.#index?.match(request) ?? { tokens: new Uint32Array(0), matches: [] };
    const decision = this.#policy.decide({
      requestId: String(request.id),
      tokens,
      namespace: null,
      matches,
      instances: this.#fleet.instances,
      loadOf: (instance) => this.#fleet.loadOf(instance, nowMs),
      nowMs,
    });
    assert(decision.kind === "placed", "every instance may serve");
    return this.#fleet.placeOf(decision.prefill.instance);
  }
}

/** The fewest waiting requests by the last reports; equals take turns. */
class LeastLoad implements Router {
  readonly #fleet: ObservedFleet;
  #last = -1;

  constructor(fleet: ObservedFleet) {
    this.#fleet = fleet;
  }

  choose(): number {
    const count = this.#fleet.instances.length;
    let chosen = (this.#last + 1) % count;
    for (let turn = 2; turn <= count; turn++) {
      const place = (this.#last + turn) % count;
      if (this.#fleet.waitingRequests(place) < this.#fleet.waitingRequests(chosen)) chosen = place;
    }
    this.#last = chosen;
    return chosen;
  }
}

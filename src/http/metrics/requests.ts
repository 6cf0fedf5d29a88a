/**
 * Counts and times answers by method, pattern of the route and status. Paths never become labels: what fits no route is one
 * series, and a method that no route has is another word for "other".
 */

import { Elysia } from "elysia";
import type { Counter, Histogram } from "prom-client";
import { METRICS, type MetricsRegistry } from "#metrics";

const UNROUTED = "unrouted";

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export class RequestMeter {
  readonly #counter: Counter<"method" | "route" | "status">;
  readonly #histogram: Histogram<"method" | "route">;
  readonly #beganAtMs = new WeakMap<Request, number>();
  /** By method, route and status: what is counted is found without asking the libraries. */
  readonly #children = new Map<string, { answered: Counter.Internal; duration: Histogram.Internal<"method" | "route"> }>();

  constructor(metrics: MetricsRegistry) {
    this.#counter = metrics.counter(METRICS.httpRequests);
    this.#histogram = metrics.histogram(METRICS.httpDuration);
  }

  began(request: Request): void {
    this.#beganAtMs.set(request, performance.now());
  }

  /** Once a request: later calls mean nothing. `route` is the pattern; without one the request fits none. */
  answered(request: Request, route: string | undefined, status: number): void {
    const beganAtMs = this.#beganAtMs.get(request);
    if (beganAtMs === undefined) return;
    this.#beganAtMs.delete(request);
    const { answered, duration } = this.#childrenOf(request.method, route ?? UNROUTED, status);
    answered.inc();
    duration.observe((performance.now() - beganAtMs) / 1000);
  }

  #childrenOf(found: string, route: string, status: number) {
    const key = `${found} ${status} ${route}`;
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const method = METHODS.has(found) ? found : "other";
    const made = {
      answered: this.#counter.labels({ method, route, status }),
      duration: this.#histogram.labels({ method, route }),
    };
    if (method === found) this.#children.set(key, made);
    return made;
  }
}

/** To be used before all routes. What fits no route does not pass here: the app tells the meter. */
export function meterRequests(meter: RequestMeter) {
  return new Elysia()
    .onRequest(({ request }) => meter.began(request))
    .mapResponse({ as: "global" }, ({ request, route, responseValue, set }) => {
      meter.answered(request, route, responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200));
    });
}

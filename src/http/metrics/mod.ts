/** `GET /metrics`: what is known of the service, its streams, the index, the routing and the fleet, for Prometheus. */

import { Elysia } from "elysia";
import { EXPOSITION_TYPE } from "#metrics";
import type { AppDependencies } from "../dependencies.ts";
import { registerFleetMetrics } from "./fleet-readings.ts";
import { registerIndexMetrics } from "./index-readings.ts";
import { registerReadinessMetrics } from "./readiness-readings.ts";
import { registerRoutingMetrics } from "./routing-readings.ts";
import { metricsResponses } from "./schema.ts";
import { registerStreamMetrics, type StreamsAtScrape } from "./stream-readings.ts";

export { observeDecisions } from "./decisions.ts";
export { MeteredDirectory } from "./metered-directory.ts";
export { meterRequests, RequestMeter } from "./requests.ts";

export function createMetricsRoutes(dependencies: AppDependencies) {
  const { metrics, directory, reports } = dependencies;
  let streams: StreamsAtScrape = { matches: [], reports: [] };
  registerReadinessMetrics(metrics, dependencies);
  registerStreamMetrics(metrics, dependencies, () => streams);
  registerIndexMetrics(metrics, dependencies, () => streams);
  registerRoutingMetrics(metrics, dependencies);
  registerFleetMetrics(metrics, dependencies);

  return new Elysia({ tags: ["metrics"] }).get(
    "/metrics",
    async ({ set }) => {
      const reported = await reports();
      const matches = directory.match(0, null, null);
      streams = { matches: matches === "busy" ? [] : matches, reports: reported };
      set.headers["content-type"] = EXPOSITION_TYPE;
      return metrics.exposition();
    },
    { response: metricsResponses, detail: { summary: "Metrics in Prometheus' text format" } },
  );
}

/** `GET /metrics`: the directory's state and each stream's counts, for Prometheus. */

import { Elysia } from "elysia";
import { formatExposition } from "#metrics";
import type { AppDependencies } from "../dependencies.ts";
import { directorySamples, reportSamples } from "./samples.ts";
import { metricsResponses } from "./schema.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function createMetricsRoutes({ directory, readiness, reports }: AppDependencies) {
  return new Elysia({ tags: ["metrics"] }).get(
    "/metrics",
    async ({ set }) => {
      const samples = [...directorySamples(directory, readiness), ...reportSamples(await reports())];
      set.headers["content-type"] = CONTENT_TYPE;
      return formatExposition(samples);
    },
    { response: metricsResponses, detail: { summary: "Metrics in Prometheus' text format" } },
  );
}

/** Whether the service answers, as metrics. */

import { METRICS, type MetricsRegistry } from "#metrics";
import type { AppDependencies } from "../dependencies.ts";

export function registerReadinessMetrics(metrics: MetricsRegistry, { readiness }: Pick<AppDependencies, "readiness">): void {
  metrics.readOne(METRICS.ready, () => Number(readiness.notReady() === null));
  metrics.readOne(METRICS.serving, () => Number(readiness.notServing() === null));
}

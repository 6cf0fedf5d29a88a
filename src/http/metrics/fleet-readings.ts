/** Who is in the fleet, in which state and how busy, as metrics. */

import { REGISTRIES, ROLES } from "#domain";
import { INSTANCE_STATES, type Instance } from "#fleet";
import { METRICS, type Metric, type MetricsRegistry, type Reading } from "#metrics";
import type { AppDependencies } from "../dependencies.ts";

export function registerFleetMetrics(
  metrics: MetricsRegistry,
  { fleet, loop, clock }: Pick<AppDependencies, "fleet" | "loop" | "clock">,
): void {
  metrics.read(METRICS.instances, () => countInstances(fleet.instances()));
  metrics.read(METRICS.refusedRegistrations, () => {
    const refusals = fleet.refusals();
    return REGISTRIES.map((registry) => ({
      labels: { registry },
      value: refusals.filter((refusal) => refusal.registry === registry).length,
    }));
  });
  metrics.read(METRICS.ignoredEvents, () =>
    Object.entries(fleet.ignored).map(([reason, value]) => ({ labels: { reason }, value })),
  );
  metrics.read(METRICS.registryConnected, () =>
    loop.connections().map(({ registry, isConnected }) => ({ labels: { registry }, value: Number(isConnected) })),
  );

  /** `measure` gives null where there is nothing to tell. */
  const ofInstance = (metric: Metric<"instance_name">, measure: (instance: Instance, nowMs: number) => number | null) =>
    metrics.read(metric, () => {
      const nowMs = clock.nowMs();
      const readings: Reading<"instance_name">[] = [];
      for (const instance of fleet.instances()) {
        const value = measure(instance, nowMs);
        if (value !== null) readings.push({ labels: { instance_name: instance.registration.name }, value });
      }
      return readings;
    });
  const reportOf = (instance: Instance, nowMs: number) => {
    const load = fleet.loadOf(instance, nowMs);
    return load.kind === "known" ? load.report : null;
  };
  ofInstance(METRICS.loadKnown, (instance, nowMs) => Number(reportOf(instance, nowMs) !== null));
  ofInstance(METRICS.loadAge, ({ loads }, nowMs) =>
    loads.length === 0 ? null : (nowMs - Math.max(...loads.map(({ receivedAtMs }) => receivedAtMs))) / 1000,
  );
  ofInstance(METRICS.waitingRequests, (instance, nowMs) => reportOf(instance, nowMs)?.waitingRequests ?? null);
  ofInstance(METRICS.cacheUsage, (instance, nowMs) => reportOf(instance, nowMs)?.cacheUsage ?? null);
}

/** Of every role in every state, so that none is missing from a sum. */
function countInstances(instances: readonly Instance[]): Reading<"role" | "state">[] {
  const counts = new Map<string, number>();
  const keyOf = (role: string, state: string) => `${role}/${state}`;
  for (const { registration, state } of instances) {
    const key = keyOf(registration.role, state);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return ROLES.flatMap((role) =>
    INSTANCE_STATES.map((state) => ({ labels: { role, state }, value: counts.get(keyOf(role, state)) ?? 0 })),
  );
}

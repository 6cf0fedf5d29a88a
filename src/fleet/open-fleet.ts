/** Puts the room together: the fleet, who tells it, who follows it, and what makes it move. Nothing runs before the loop starts. */

import type { Clock, Logger } from "#base";
import { EtcdSource } from "./etcd/mod.ts";
import { Fleet } from "./fleet.ts";
import { FleetLoop } from "./fleet-loop.ts";
import { HttpRegistry } from "./http-registry.ts";
import { KubernetesSource } from "./kubernetes/mod.ts";
import type { FleetLimits } from "./limits.ts";
import { HealthProber } from "./prober.ts";
import type { FleetSource } from "./registry.ts";
import { MetricsScraper } from "./scrape/mod.ts";
import { type StreamSet, type SubscriptionRules, Subscriptions } from "./subscriptions/mod.ts";

export interface OpenFleetOptions {
  clock: Clock;
  logger: Logger;
  limits: FleetLimits;
  /** Time for one answer of `/health`, and tries. */
  probe: { timeoutMs: number; attempts: number };
  /** Null: no etcd. */
  etcd: { addresses: string[]; namespace: string; credentials: { username: string; password: string } | null } | null;
  /** Null: Kubernetes is not asked. */
  kubernetes: { labelSelector: string; namespace: string } | null;
  /** 0: engines' metrics are not looked at. */
  scrapeIntervalMs: number;
  refreshIntervalMs: number;
  rules: SubscriptionRules;
  streams: StreamSet;
}

export interface OpenFleet {
  fleet: Fleet;
  subscriptions: Subscriptions;
  registrations: HttpRegistry;
  scrapes: { problemOf(name: string): string | null };
  loop: FleetLoop;
}

const NO_SCRAPES: OpenFleet["scrapes"] = { problemOf: () => null };

export function openFleet(options: OpenFleetOptions): OpenFleet {
  const { clock, logger, limits, scrapeIntervalMs, refreshIntervalMs, rules, streams } = options;
  const fleet = new Fleet({ clock, limits, prober: new HealthProber(options.probe), logger });
  const subscriptions = new Subscriptions({ streams, rules, logger });
  const registrations = new HttpRegistry({
    fleet,
    clock,
    conflictOf: (registration) => subscriptions.conflictOf(registration, fleet.instances()),
    logger,
    heartbeatLeaseMs: limits.leaseLostHeartbeatTimeoutMs,
  });
  const scraper =
    scrapeIntervalMs === 0 ? null : new MetricsScraper({ fleet, registrar: fleet, intervalMs: scrapeIntervalMs, clock, logger });
  const sources = openSources(options, fleet);
  const loop = new FleetLoop({ fleet, subscriptions, scraper, sources, refreshIntervalMs });
  loop.addFollower(registrations);
  return { fleet, subscriptions, registrations, scrapes: scraper ?? NO_SCRAPES, loop };
}

function openSources({ etcd, kubernetes, clock, logger }: OpenFleetOptions, registrar: Fleet): FleetSource[] {
  const sources: FleetSource[] = [];
  if (etcd !== null) sources.push(new EtcdSource({ ...etcd, registrar, logger, clock }));
  if (kubernetes !== null) sources.push(new KubernetesSource({ ...kubernetes, registrar, logger }));
  return sources;
}

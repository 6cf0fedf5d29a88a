/** An instance as the fleet knows it, for whoever subscribes to it, routes to it or reads about it. */

import type { CurrentRole, InstanceRegistration, LatencyReport, LoadOrigin, LoadReport, Registry } from "#domain";

export const INSTANCE_STATES = ["ACTIVE", "LEASE_LOST", "SUSPECT"] as const;

export type InstanceStateName = (typeof INSTANCE_STATES)[number];

/** Never changes but for its load and latency, which are always those of now. */
export interface Instance {
  readonly registration: InstanceRegistration;
  readonly registry: Registry;
  readonly state: InstanceStateName;
  /** The fleet's clock when it came into that state, or was found in SUSPECT once more. */
  readonly stateSinceMs: number;
  readonly currentRole: CurrentRole;
  /** What it and others report of its load, the freshest of each origin. */
  readonly loads: readonly ReceivedLoad[];
  readonly latency: LatencyReport | null;
}

export interface ReceivedLoad {
  origin: LoadOrigin;
  report: LoadReport;
  /** The fleet's clock. */
  receivedAtMs: number;
}

/** A registration that cannot become an instance, and why. */
export interface Refusal {
  registry: Registry;
  name: string;
  reason: string;
}

/** The fleet's limits that no setting changes, and those that settings give. */

import type { TransitionLimits } from "./state.ts";

/** Far above the 128 instances that can be listened to: a registry gone mad must not take all memory. */
export const INSTANCES_MAX = 4096;

export interface FleetLimits extends TransitionLimits {
  /** A load report older than this does not count. */
  loadReportMaxAgeMs: number;
  /** Instances registered, and refusals kept, each; `INSTANCES_MAX` where it is not given. */
  instancesMax?: number;
}

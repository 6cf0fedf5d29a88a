/**
 * Routing: where a request goes. A policy is given the fleet, the directory's answer and the time, and decides with its reasons;
 * nothing here waits for anything. README.md has the formulas.
 */

export {
  type Candidate,
  type CurrentLoad,
  describeExclusion,
  describeUncredited,
  type Exclusion,
  type PrefixHits,
  type Side,
  type Uncredited,
} from "./candidate.ts";
export {
  type Decision,
  type Flip,
  type Placement,
  REFUSAL_KINDS,
  type RefusalKind,
  type Refused,
  refusalKind,
} from "./decision.ts";
export type { LoadOf } from "./eligibility.ts";
export { CacheAware, type CacheAwareOptions } from "./policies/cache-aware.ts";
export type { Policy, PolicyBooks, PolicyCounts, RouteRequest } from "./policies/policy.ts";
export { RoundRobin } from "./policies/round-robin.ts";
export { SloAware } from "./policies/slo-aware.ts";
export { REQUEST_STEPS, type RequestStep } from "./request-step.ts";
export {
  type DecisionObserver,
  type RouteDirectory,
  type RouteFleet,
  type RoutePrompt,
  Router,
  type RouterOptions,
} from "./router.ts";
export type { SloTargets } from "./slo/schedule.ts";

/**
 * The states of an instance, the events that move it, and what a move asks to be done. Section 6.5 of xLLM's wire formats is the
 * source. README.md has the table; `transition.ts` is it in code.
 */

import type { InstanceRegistration, Registry } from "#domain";

/** What holds in every state. */
interface Registered {
  registration: InstanceRegistration;
  /** Who registered it; only that registry can refresh it or take it away. */
  registry: Registry;
  /** The fleet's clock when it came into its state, or was found in SUSPECT once more. */
  sinceMs: number;
  /** Its lease is gone, and its `/health` is being asked whether it lives. */
  isProbed: boolean;
}

/** ACTIVE and LEASE_LOST may serve; SUSPECT may not. Null stands for an instance that is not there. */
export type InstanceState =
  | (Registered & { kind: "ACTIVE" })
  /** Alive without a lease, as long as it sends heartbeats. */
  | (Registered & { kind: "LEASE_LOST"; heartbeatAtMs: number })
  /** Deregistered when this has lasted. */
  | (Registered & { kind: "SUSPECT" });

/** `nowMs` is the fleet's clock; an `incarnation` of null is not known, and counts as the present one. */
export type InstanceEvent =
  | { type: "put"; registration: InstanceRegistration; registry: Registry; nowMs: number }
  | { type: "lease-lost"; incarnation: string | null; registry: Registry }
  /** Taken away by someone who knows that it is gone: no probe. */
  | { type: "removed"; incarnation: string | null; registry: Registry }
  | { type: "probe-answered"; nowMs: number }
  | { type: "probe-failed"; nowMs: number }
  /** Carries the incarnation id alone, "" for a process that has none. */
  | { type: "heartbeat"; incarnationId: string; nowMs: number }
  | { type: "tick"; nowMs: number };

export type InstanceEffect =
  /** A process that was not known: begin with nothing. What was under its name has been deregistered before. */
  | { type: "register" }
  /** The same process, perhaps otherwise described. */
  | { type: "refresh" }
  /** Forget the process: its subscriptions and its load, at once. */
  | { type: "deregister"; reason: DeregisterReason }
  | { type: "start-probe" }
  | { type: "cancel-probe" }
  /** An event that means nothing here, for the count. */
  | { type: "ignore"; reason: IgnoreReason };

export type DeregisterReason = "replaced" | "removed" | "suspect-timeout";

export type IgnoreReason = "stale-incarnation" | "other-registry" | "not-registered";

export interface TransitionLimits {
  /** An instance in LEASE_LOST whose last heartbeat is this old is SUSPECT. */
  leaseLostHeartbeatTimeoutMs: number;
  /** Time in SUSPECT after which an instance is deregistered. */
  suspectTimeoutMs: number;
}

export interface Transition {
  state: InstanceState | null;
  /** To be performed in this order. */
  effects: readonly InstanceEffect[];
}

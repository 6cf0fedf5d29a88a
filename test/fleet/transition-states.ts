/** States of instances and what moves them, as tests of the transition need them. */

import type { InstanceRegistration } from "#domain";
import type { InstanceEffect, InstanceState } from "../../src/fleet/state.ts";
import { registrationOf } from "../support/instances.ts";

export const LIMITS = { leaseLostHeartbeatTimeoutMs: 3000, suspectTimeoutMs: 15_000 };

/** The process that is there in every state. */
export const PRESENT = "process-a";

export function registration(fields: Partial<InstanceRegistration> = {}): InstanceRegistration {
  return registrationOf(fields.name ?? "10.0.0.5:8000", { backend: "vllm", incarnation: PRESENT, ...fields });
}

interface StateFields {
  isProbed?: boolean;
  sinceMs?: number;
  incarnation?: string;
}

function registered({ isProbed = false, sinceMs = 0, incarnation = PRESENT }: StateFields) {
  return { registration: registration({ incarnation }), registry: "etcd" as const, sinceMs, isProbed };
}

/** Registered through etcd, since time 0. */
export const active = (fields: StateFields = {}): InstanceState => ({ kind: "ACTIVE", ...registered(fields) });

export const leaseLost = ({ heartbeatAtMs = 0, ...fields }: StateFields & { heartbeatAtMs?: number } = {}): InstanceState => ({
  kind: "LEASE_LOST",
  ...registered(fields),
  heartbeatAtMs,
});

export const suspect = (fields: StateFields = {}): InstanceState => ({ kind: "SUSPECT", ...registered(fields) });

/** One for each column of the README's table. */
export const STATES: Record<string, InstanceState | null> = {
  none: null,
  ACTIVE: active(),
  "ACTIVE, probed": active({ isProbed: true }),
  LEASE_LOST: leaseLost(),
  "LEASE_LOST, probed": leaseLost({ isProbed: true }),
  SUSPECT: suspect(),
  "SUSPECT, probed": suspect({ isProbed: true }),
};

/** The state's column in the README's table. */
export function columnOf(state: InstanceState | null): string {
  if (state === null) return "none";
  return state.isProbed ? `${state.kind}, probed` : state.kind;
}

/** An effect as the README's table names it: `deregister replaced`, `start-probe`. */
export function effectName(effect: InstanceEffect): string {
  return effect.type === "deregister" || effect.type === "ignore" ? `${effect.type} ${effect.reason}` : effect.type;
}

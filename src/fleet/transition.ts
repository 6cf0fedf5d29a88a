/**
 * What becomes of an instance: a pure function of its state and what happened. A process is never taken for the one before it
 * under its name, and what speaks of a process that is not there any more changes nothing.
 */

import { incarnationIdOf } from "#domain";
import type { IgnoreReason, InstanceEffect, InstanceEvent, InstanceState, Transition, TransitionLimits } from "./state.ts";

type Event<Type extends InstanceEvent["type"]> = Extract<InstanceEvent, { type: Type }>;

const NOTHING: readonly InstanceEffect[] = [];

export function transition(state: InstanceState | null, event: InstanceEvent, limits: TransitionLimits): Transition {
  return state === null ? whenNone(event) : whenRegistered(state, event, limits);
}

function whenNone(event: InstanceEvent): Transition {
  switch (event.type) {
    case "put":
      return { state: activeFrom(event, event.nowMs), effects: [{ type: "register" }] };
    case "lease-lost":
    case "removed":
    case "heartbeat":
      return ignore(null, "not-registered");
    case "probe-answered":
    case "probe-failed":
    case "tick":
      return { state: null, effects: NOTHING };
  }
}

function whenRegistered(state: InstanceState, event: InstanceEvent, limits: TransitionLimits): Transition {
  switch (event.type) {
    case "put":
      return onPut(state, event);
    case "lease-lost":
      return onLeaseLost(state, event);
    case "removed":
      return onRemoved(state, event);
    case "probe-answered":
    case "probe-failed":
      return state.isProbed ? onProbeEnd(state, event) : stay(state);
    case "heartbeat":
      return onHeartbeat(state, event);
    case "tick":
      return onTick(state, event.nowMs, limits);
  }
}

/** The clock of its state goes on only where it was ACTIVE as the same process. */
function onPut(state: InstanceState, event: Event<"put">): Transition {
  if (event.registry !== state.registry) return ignore(state, "other-registry");
  if (event.registration.incarnation !== state.registration.incarnation) {
    const effects = [...probeEnd(state), { type: "deregister", reason: "replaced" }, { type: "register" }] as const;
    return { state: activeFrom(event, event.nowMs), effects };
  }
  const sinceMs = state.kind === "ACTIVE" ? state.sinceMs : event.nowMs;
  return { state: activeFrom(event, sinceMs), effects: [...probeEnd(state), { type: "refresh" }] };
}

/** It stays what it is until the probe has ended; one probe at a time is enough. */
function onLeaseLost(state: InstanceState, event: Event<"lease-lost">): Transition {
  const objection = objectionTo(event, state);
  if (objection !== null) return ignore(state, objection);
  return state.isProbed ? stay(state) : { state: { ...state, isProbed: true }, effects: [{ type: "start-probe" }] };
}

function onRemoved(state: InstanceState, event: Event<"removed">): Transition {
  const objection = objectionTo(event, state);
  if (objection !== null) return ignore(state, objection);
  return { state: null, effects: [...probeEnd(state), { type: "deregister", reason: "removed" }] };
}

function onProbeEnd(state: InstanceState, { type, nowMs }: Event<"probe-answered" | "probe-failed">): Transition {
  const probed: InstanceState = { ...state, isProbed: false };
  return { state: type === "probe-answered" ? leaseLost(probed, nowMs) : suspect(probed, nowMs), effects: NOTHING };
}

/** A lease outweighs silence, so an ACTIVE instance keeps no account of heartbeats. */
function onHeartbeat(state: InstanceState, { incarnationId, nowMs }: Event<"heartbeat">): Transition {
  if (incarnationId !== incarnationIdOf(state.registration.incarnation)) return ignore(state, "stale-incarnation");
  return state.kind === "ACTIVE" ? stay(state) : { state: leaseLost(state, nowMs), effects: NOTHING };
}

/** The clocks wait for no probe: how long SUSPECT lasts is a promise, and a probe may take minutes. */
function onTick(state: InstanceState, nowMs: number, limits: TransitionLimits): Transition {
  switch (state.kind) {
    case "ACTIVE":
      return stay(state);
    case "LEASE_LOST":
      if (nowMs - state.heartbeatAtMs < limits.leaseLostHeartbeatTimeoutMs) return stay(state);
      return { state: suspect(state, nowMs), effects: NOTHING };
    case "SUSPECT":
      if (nowMs - state.sinceMs < limits.suspectTimeoutMs) return stay(state);
      return { state: null, effects: [...probeEnd(state), { type: "deregister", reason: "suspect-timeout" }] };
  }
}

/** Why the word of a registry does not count. */
function objectionTo(event: Event<"lease-lost" | "removed">, state: InstanceState): IgnoreReason | null {
  if (event.registry !== state.registry) return "other-registry";
  const isPresent = event.incarnation === null || event.incarnation === state.registration.incarnation;
  return isPresent ? null : "stale-incarnation";
}

function activeFrom({ registration, registry }: Event<"put">, sinceMs: number): InstanceState {
  return { kind: "ACTIVE", registration, registry, sinceMs, isProbed: false };
}

/** The sign of life at `nowMs` restarts the clock of heartbeats. */
function leaseLost({ kind, registration, registry, sinceMs, isProbed }: InstanceState, nowMs: number): InstanceState {
  const stateSinceMs = kind === "LEASE_LOST" ? sinceMs : nowMs;
  return { kind: "LEASE_LOST", registration, registry, sinceMs: stateSinceMs, isProbed, heartbeatAtMs: nowMs };
}

function suspect({ registration, registry, isProbed }: InstanceState, nowMs: number): InstanceState {
  return { kind: "SUSPECT", registration, registry, sinceMs: nowMs, isProbed };
}

function probeEnd({ isProbed }: InstanceState): readonly InstanceEffect[] {
  return isProbed ? [{ type: "cancel-probe" }] : NOTHING;
}

function stay(state: InstanceState): Transition {
  return { state, effects: NOTHING };
}

function ignore(state: InstanceState | null, reason: IgnoreReason): Transition {
  return { state, effects: [{ type: "ignore", reason }] };
}

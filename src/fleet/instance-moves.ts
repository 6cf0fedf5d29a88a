/**
 * Moves instances: asks the transition what an event means and performs its effects, in order. A process that is deregistered is
 * forgotten by all before its name can be seen again.
 */

import { assert } from "#base";
import type { FleetLog } from "./fleet-log.ts";
import { InstanceLoads } from "./loads.ts";
import { type InstanceRecord, InstanceRecords } from "./records.ts";
import { currentRoleOf } from "./roles.ts";
import type { DeregisterReason, IgnoreReason, InstanceEffect, InstanceEvent, InstanceState, TransitionLimits } from "./state.ts";
import { transition } from "./transition.ts";

export interface MovesOptions {
  limits: TransitionLimits;
  log: FleetLog;
  probes: { start(name: string, address: string): void; cancel(name: string): void };
  /** Called at once: the instance is no longer among the records, and what replaces it is not yet. */
  onDeregistered(name: string): void;
}

export class InstanceMoves {
  readonly records = new InstanceRecords();
  /** Events that meant nothing, by reason. */
  readonly ignored: Record<IgnoreReason, number> = { "stale-incarnation": 0, "other-registry": 0, "not-registered": 0 };
  readonly #options: MovesOptions;
  #hasChanged = false;

  constructor(options: MovesOptions) {
    this.#options = options;
  }

  /** Answers with the effects that the event had. */
  apply(name: string, event: InstanceEvent): readonly InstanceEffect[] {
    const record = this.records.get(name);
    const { state, effects } = transition(record?.state ?? null, event, this.#options.limits);
    for (const effect of effects) this.#perform(effect, name, record, state);
    const present = this.records.get(name);
    if (present !== undefined && state !== null && present.state !== state) this.#move(present, state, event);
    return effects;
  }

  /** Whether anything that others see of an instance, but its load, is different since the last call. */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  /** Makes a MIX instance work as `role`; one that is gone or no MIX by now stays as it is. */
  setCurrentRole(name: string, role: "PREFILL" | "DECODE"): void {
    const record = this.records.get(name);
    if (record?.state.registration.role !== "MIX") return;
    if (!this.records.update(record, record.state, role)) return;
    this.#options.log.roleChanged(name, role);
    this.#hasChanged = true;
  }

  #perform(effect: InstanceEffect, name: string, record: InstanceRecord | undefined, next: InstanceState | null): void {
    switch (effect.type) {
      case "register":
        assert(next !== null, "an instance that is registered has a state");
        this.#register(name, next);
        break;
      case "deregister":
        assert(record !== undefined, "an instance that is deregistered was there");
        this.#deregister(name, record.state, effect.reason);
        break;
      case "start-probe":
        assert(next !== null, "an instance that is probed has a state");
        this.#options.probes.start(name, next.registration.address);
        break;
      case "cancel-probe":
        this.#options.probes.cancel(name);
        break;
      case "ignore":
        this.ignored[effect.reason] += 1;
        break;
      case "refresh":
        break; // its new state holds the description
    }
  }

  #register(name: string, state: InstanceState): void {
    const currentRole = currentRoleOf(state.registration.role, null, () => this.#hasDecodeBeside(name));
    this.records.add(state, currentRole, new InstanceLoads());
    this.#options.log.registered(state);
    this.#hasChanged = true;
  }

  #deregister(name: string, state: InstanceState, reason: DeregisterReason): void {
    this.records.delete(name);
    this.#hasChanged = true;
    this.#options.log.deregistered(state, reason);
    this.#options.onDeregistered(name);
  }

  /** The same process in another state, or otherwise described. */
  #move(record: InstanceRecord, state: InstanceState, event: InstanceEvent): void {
    const { state: before, instance } = record;
    const previous = { role: before.registration.role, currentRole: instance.currentRole };
    const { name, role } = state.registration;
    const currentRole = currentRoleOf(role, previous, () => this.#hasDecodeBeside(name));
    const isVisible = this.records.update(record, state, currentRole);
    this.#options.log.moved(before, state, event);
    if (isVisible) this.#hasChanged = true;
  }

  #hasDecodeBeside(name: string): boolean {
    for (const { instance } of this.records.values()) {
      if (instance.currentRole === "DECODE" && instance.registration.name !== name) return true;
    }
    return false;
  }
}

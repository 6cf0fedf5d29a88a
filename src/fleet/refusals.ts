/**
 * Registrations that were not taken, one per registry and name, with the reason. One that could become an instance is a claim:
 * it waits until its name is free and there is room.
 */

import type { InstanceRegistration, Registry } from "#domain";
import type { Refusal } from "./instance.ts";

export interface Claim {
  registry: Registry;
  registration: InstanceRegistration;
}

interface Refused extends Refusal {
  /** Null when what is registered describes no instance. */
  registration: InstanceRegistration | null;
}

export class Refusals {
  readonly #max: number;
  readonly #refused = new Map<string, Refused>();

  /** At most `max` are kept; then the oldest gives way, and is a claim no longer. */
  constructor(max: number) {
    this.#max = max;
  }

  /** True when the reason is news. */
  add(refusal: Refusal, registration: InstanceRegistration | null): boolean {
    const key = keyOf(refusal.registry, refusal.name);
    const known = this.#refused.get(key);
    this.#refused.set(key, { ...refusal, registration });
    if (this.#refused.size > this.#max) this.#refused.delete(this.#refused.keys().next().value ?? key);
    return known?.reason !== refusal.reason;
  }

  delete(registry: Registry, name: string): void {
    this.#refused.delete(keyOf(registry, name));
  }

  /** Whether there was a claim of that process, which is gone then; an `incarnation` of null is any. */
  deleteClaim(registry: Registry, name: string, incarnation: string | null): boolean {
    const key = keyOf(registry, name);
    const claimed = this.#refused.get(key)?.registration?.incarnation;
    return claimed !== undefined && (incarnation === null || incarnation === claimed) && this.#refused.delete(key);
  }

  /** The longest waiting first. */
  claims(): Claim[] {
    return [...this.#refused.values()].flatMap(({ registry, registration }) =>
      registration === null ? [] : [{ registry, registration }],
    );
  }

  /** By name in code unit order, then by registry. */
  list(): Refusal[] {
    const keys = [...this.#refused].sort(([a], [b]) => (a < b ? -1 : 1));
    return keys.map(([, { registry, name, reason }]) => ({ registry, name, reason }));
  }
}

/** Sorts by name: a control character is in no name. */
function keyOf(registry: Registry, name: string): string {
  return `${name}\0${registry}`;
}

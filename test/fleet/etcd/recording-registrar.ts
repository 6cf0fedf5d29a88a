/** A fleet that takes everything and remembers what it was told, in order. */

import type { InstanceRegistration, LoadReport, Registry } from "#domain";
import type { FleetRegistrar, PutOutcome } from "../../../src/fleet/registry.ts";

export class RecordingRegistrar implements FleetRegistrar {
  /** One line a call: `put PREFILL a:1 one`, `lose a:1 one`, `refuse a:1: why`, `withdraw a:1`, `load a:1 3 0.5`. */
  readonly calls: string[] = [];
  readonly registrations: InstanceRegistration[] = [];
  /** What the next puts are answered. */
  outcome: PutOutcome = "registered";

  put(registry: Registry, registration: InstanceRegistration): PutOutcome {
    this.registrations.push(registration);
    const { role, name, incarnation } = registration;
    this.#record(registry, `put ${role} ${name} ${incarnation}`);
    return this.outcome;
  }

  loseLease(registry: Registry, name: string, incarnation: string | null): void {
    this.#record(registry, `lose ${name} ${incarnation}`);
  }

  remove(registry: Registry, name: string, incarnation: string | null): boolean {
    this.#record(registry, `remove ${name} ${incarnation}`);
    return true;
  }

  refuse(registry: Registry, name: string, reason: string): void {
    this.#record(registry, `refuse ${name}: ${reason}`);
  }

  withdrawRefusal(registry: Registry, name: string): void {
    this.#record(registry, `withdraw ${name}`);
  }

  reportLoad(origin: "etcd" | "scrape", name: string, { waitingRequests, cacheUsage }: LoadReport): void {
    this.#record(origin, `load ${name} ${waitingRequests} ${cacheUsage}`);
  }

  /** What was told since the last time. */
  take(): string[] {
    return this.calls.splice(0);
  }

  #record(from: string, call: string): void {
    this.calls.push(from === "etcd" ? call : `${from}: ${call}`);
  }
}

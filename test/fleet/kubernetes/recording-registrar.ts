import type { InstanceRegistration, Registry } from "#domain";
import type { FleetRegistrar, PutOutcome } from "../../../src/fleet/registry.ts";

/** Notes what a registry says, a line a call, and what would be there if the fleet did all of it. */
export class RecordingRegistrar implements FleetRegistrar {
  readonly calls: string[] = [];
  readonly registrations = new Map<string, InstanceRegistration>();
  readonly refusals = new Map<string, string>();

  put(_registry: Registry, registration: InstanceRegistration): PutOutcome {
    const { name, incarnation } = registration;
    this.calls.push(`put ${name} ${incarnation}`);
    const before = this.registrations.get(name);
    this.registrations.set(name, registration);
    return before?.incarnation === incarnation ? "refreshed" : "registered";
  }

  loseLease(_registry: Registry, name: string, incarnation: string | null): void {
    this.calls.push(`loseLease ${name} ${incarnation}`);
  }

  remove(_registry: Registry, name: string, incarnation: string | null): boolean {
    this.calls.push(`remove ${name} ${incarnation}`);
    if (this.registrations.get(name)?.incarnation !== incarnation) return false;
    return this.registrations.delete(name);
  }

  refuse(_registry: Registry, name: string, reason: string): void {
    this.calls.push(`refuse ${name}`);
    this.refusals.set(name, reason);
  }

  withdrawRefusal(_registry: Registry, name: string): void {
    this.calls.push(`withdrawRefusal ${name}`);
    this.refusals.delete(name);
  }

  reportLoad(): void {
    throw new Error("Kubernetes knows no loads");
  }

  /** The calls since the last time. */
  take(): string[] {
    return this.calls.splice(0);
  }
}

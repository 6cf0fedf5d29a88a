/**
 * The registry of those who register over HTTP: what keeps each registration alive, and when it has lapsed. A lapse only makes the
 * fleet ask the instance whether it lives. There is an entry exactly for each instance that the fleet holds for this registry, so
 * the fleet's limit bounds the entries.
 */

import type { Clock, Logger } from "#base";
import type { InstanceRegistration, Registry } from "#domain";
import type { Fleet, Heartbeat } from "./fleet.ts";

export type RegisterOutcome =
  /** As the fleet says: another process than before, or the same one. */
  | { kind: "registered" | "refreshed" }
  /** An event or replay endpoint is already that of another instance. */
  | { kind: "endpoint-taken"; endpoint: string; instanceName: string }
  /** Another registry has an instance of this name. */
  | { kind: "held-elsewhere"; registry: Registry }
  /** The fleet takes no further instance, for this reason. */
  | { kind: "refused"; reason: string };

export type DeregisterOutcome =
  | { kind: "deregistered" }
  | { kind: "not-registered" }
  /** Another registry has it, and only there can it be deleted. */
  | { kind: "held-elsewhere"; registry: Registry }
  /** The process that is registered is not the one that was named. */
  | { kind: "other-incarnation"; incarnation: string };

export interface HttpRegistryOptions {
  fleet: Pick<Fleet, "instance" | "put" | "loseLease" | "remove" | "withdrawRefusal" | "heartbeat">;
  /** The fleet's clock. */
  clock: Clock;
  /** The endpoint of the registration that another instance or a static stream has, and whose it is. */
  conflictOf: (registration: InstanceRegistration) => { endpoint: string; instanceName: string } | null;
  logger: Logger;
  /** How long an instance that is kept alive by its heartbeats may be silent. */
  heartbeatLeaseMs: number;
}

interface Entry {
  registration: InstanceRegistration;
  /** Registering again, where a lease was asked for; heartbeats, where none was. */
  renewedBy: "registration" | "heartbeat";
  lease: Lease;
}

/** Endless: until deleted, or until a first heartbeat shows that the instance sends them. Lapsed: the fleet has been told. */
type Lease = { kind: "endless" } | { kind: "running"; endsAtMs: number } | { kind: "lapsed" };

export class HttpRegistry {
  readonly #options: HttpRegistryOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: HttpRegistryOptions) {
    this.#options = options;
  }

  /**
   * Registers the instance or refreshes it. It stays for `leaseMs`, or, when that is null, until it is deleted or its heartbeats
   * stop. What is not taken leaves no trace: whoever asked has the outcome.
   */
  register(registration: InstanceRegistration, leaseMs: number | null): RegisterOutcome {
    const { fleet, conflictOf } = this.#options;
    const { name } = registration;
    const holder = fleet.instance(name)?.registry ?? "http";
    if (holder !== "http") return { kind: "held-elsewhere", registry: holder };
    const conflict = conflictOf(registration);
    if (conflict !== null) return { kind: "endpoint-taken", ...conflict };

    // A process that is replaced is deregistered within `put`, and its entry goes with it.
    const before = this.#entries.get(name);
    const outcome = fleet.put("http", registration);
    if (typeof outcome === "object") {
      fleet.withdrawRefusal("http", name);
      return { kind: "refused", reason: outcome.refused };
    }
    const renewedBy = leaseMs === null ? "heartbeat" : "registration";
    const sentHeartbeats = outcome === "refreshed" && before?.renewedBy === "heartbeat" && before.lease.kind !== "endless";
    const durationMs = leaseMs ?? (sentHeartbeats ? this.#options.heartbeatLeaseMs : null);
    this.#entries.set(name, { registration, renewedBy, lease: this.#leaseOf(durationMs) });
    return { kind: outcome };
  }

  /** Takes the instance away at once; an `incarnation` of null takes away whichever process is registered. */
  deregister(name: string, incarnation: string | null): DeregisterOutcome {
    const { fleet } = this.#options;
    const instance = fleet.instance(name);
    if (instance === null) return { kind: "not-registered" };
    if (instance.registry !== "http") return { kind: "held-elsewhere", registry: instance.registry };
    const present = instance.registration.incarnation;
    if (incarnation !== null && incarnation !== present) return { kind: "other-incarnation", incarnation: present };
    fleet.remove("http", name, present);
    return { kind: "deregistered" };
  }

  /** Passes on a heartbeat of any instance, whoever registered it, and renews what heartbeats keep alive. */
  heartbeat(heartbeat: Heartbeat): ReturnType<Fleet["heartbeat"]> {
    const { fleet, heartbeatLeaseMs } = this.#options;
    const outcome = fleet.heartbeat(heartbeat);
    const entry = this.#entries.get(heartbeat.name);
    if (outcome !== "accepted" || entry?.renewedBy !== "heartbeat") return outcome;
    if (entry.lease.kind === "lapsed") fleet.put("http", entry.registration);
    entry.lease = this.#leaseOf(heartbeatLeaseMs);
    return outcome;
  }

  /** Tells the fleet of every lease that has lapsed since the last call. */
  tick(): void {
    const { fleet, clock, logger } = this.#options;
    const nowMs = clock.nowMs();
    for (const [name, entry] of this.#entries) {
      if (entry.lease.kind !== "running" || nowMs < entry.lease.endsAtMs) continue;
      entry.lease = { kind: "lapsed" };
      logger.warn("Registration over HTTP lapsed", { instance: name, missing: entry.renewedBy });
      fleet.loseLease("http", name, entry.registration.incarnation);
    }
  }

  /** The fleet holds the instance no longer. */
  deregistered(name: string): void {
    this.#entries.delete(name);
  }

  #leaseOf(durationMs: number | null): Lease {
    return durationMs === null ? { kind: "endless" } : { kind: "running", endsAtMs: this.#options.clock.nowMs() + durationMs };
  }
}

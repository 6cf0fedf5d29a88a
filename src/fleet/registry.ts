/** What a registry (etcd, HTTP, Kubernetes) tells the fleet, and what it hears back. */

import type { InstanceRegistration, LoadReport, Registry } from "#domain";

export type PutOutcome =
  /** Another process than before, or none was there. */
  | "registered"
  /** The same process. */
  | "refreshed"
  /**
   * Not taken, for this reason. It is listed as refused and waits as a claim, which is taken when its name is free and there is
   * room, or withdrawn: by `withdrawRefusal`, `loseLease` or `remove`.
   */
  | { refused: string };

/** The fleet as a registry sees it. Names are instance names; an `incarnation` of null is not known. */
export interface FleetRegistrar {
  /** Registers the instance, or refreshes it. */
  put(registry: Registry, registration: InstanceRegistration): PutOutcome;
  /** Its lease ran out or was deleted: it is asked whether it lives. */
  loseLease(registry: Registry, name: string, incarnation: string | null): void;
  /** It is gone for certain. False when the registry has no such instance, or another incarnation of it, or only a claim. */
  remove(registry: Registry, name: string, incarnation: string | null): boolean;
  /** What the registry has under this name describes no instance; an instance that it described before goes. */
  refuse(registry: Registry, name: string, reason: string): void;
  /** The registry has nothing under this name any more that was refused. */
  withdrawRefusal(registry: Registry, name: string): void;
  /** A load report that arrived by another way than a heartbeat. Of an instance that is not there it is dropped. */
  reportLoad(origin: "etcd" | "scrape", name: string, report: LoadReport): void;
}

/** A registry that works by itself, from `start` to `stop`. */
export interface FleetSource {
  readonly registry: Registry;
  start(): void;
  stop(): Promise<void>;
  /** Whether it hears of changes now. */
  readonly isConnected: boolean;
  /** Null once all that the registry had at the start has been put; else why not, a sentence. */
  notReady(): string | null;
}

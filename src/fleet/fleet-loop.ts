/**
 * What makes the fleet move by itself: its second hand, the registries that tell it, the looks at engines' metrics, and the
 * subscriptions that follow. Everything that runs between `start` and `stop` is begun and ended here.
 */

import type { FleetListener } from "./fleet.ts";
import type { Instance } from "./instance.ts";
import type { FleetSource } from "./registry.ts";

/** The state loop of xLLM's service; timeouts of states are looked at this often. */
const TICK_MS = 1000;

/** Changes that come together, such as a listing, are looked at together. */
const CHANGE_DELAY_MS = 2;

/** Whoever moves with the fleet: hears of its second hand, after the fleet itself, and of each process that is gone, at once. */
export interface FleetFollower {
  tick(): void;
  deregistered(name: string): void;
}

export type RegistryConnection = Pick<FleetSource, "registry" | "isConnected">;

/** What the loop moves, each by the part of its surface that it needs. */
export interface FleetLoopParts {
  fleet: { listener: FleetListener | null; instances(): readonly Instance[]; tick(): void; stop(): void };
  subscriptions: { refresh(instances: readonly Instance[]): void; drop(name: string): void };
  scraper: { start(): void; stop(): Promise<void> } | null;
  sources: readonly FleetSource[];
  /** Time between two looks at the fleet when nothing changes: what could not be subscribed is tried again. */
  refreshIntervalMs: number;
}

export class FleetLoop implements FleetListener {
  readonly #parts: FleetLoopParts;
  readonly #followers: FleetFollower[] = [];
  #timers: Timer[] = [];
  #changeTimer: Timer | null = null;

  constructor(parts: FleetLoopParts) {
    this.#parts = parts;
    parts.fleet.listener = this;
  }

  /** To be called before `start`. */
  addFollower(follower: FleetFollower): void {
    this.#followers.push(follower);
  }

  /** Subscribes to what is known already, then lets the registries begin. */
  start(): void {
    const { fleet, scraper, sources, refreshIntervalMs } = this.#parts;
    this.#refresh();
    this.#timers = [
      setInterval(() => {
        fleet.tick();
        for (const follower of this.#followers) follower.tick();
      }, TICK_MS),
      setInterval(() => this.#refresh(), refreshIntervalMs),
    ];
    for (const source of sources) source.start();
    scraper?.start();
  }

  /** Null once every registry has told what it had at the start; else what is missing, a sentence each. */
  notReady(): string[] | null {
    const reasons = this.#parts.sources.map((source) => source.notReady()).filter((reason) => reason !== null);
    return reasons.length > 0 ? reasons : null;
  }

  /** Of each registry that works by itself. */
  connections(): RegistryConnection[] {
    return this.#parts.sources.map(({ registry, isConnected }) => ({ registry, isConnected }));
  }

  /** A process that is gone has no streams from this moment on. */
  deregistered(name: string): void {
    this.#parts.subscriptions.drop(name);
    for (const follower of this.#followers) follower.deregistered(name);
  }

  changed(): void {
    this.#changeTimer ??= setTimeout(() => this.#refresh(), CHANGE_DELAY_MS);
  }

  async stop(): Promise<void> {
    const { fleet, scraper, sources } = this.#parts;
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#changeTimer !== null) clearTimeout(this.#changeTimer);
    fleet.listener = null;
    fleet.stop();
    await Promise.all([scraper?.stop(), ...sources.map((source) => source.stop())]);
  }

  #refresh(): void {
    if (this.#changeTimer !== null) clearTimeout(this.#changeTimer);
    this.#changeTimer = null;
    this.#parts.subscriptions.refresh(this.#parts.fleet.instances());
  }
}

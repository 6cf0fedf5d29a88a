/**
 * The fleet: every instance that is there, in which state, and how busy. It turns what registries, engines and the clock tell into
 * events of instances, refuses what it cannot take, and tells one listener what has changed.
 */

import type { Clock, Logger } from "#base";
import type { InstanceRegistration, LatencyReport, LoadReport, Registry } from "#domain";
import { FleetLog } from "./fleet-log.ts";
import type { Instance, Refusal } from "./instance.ts";
import { InstanceMoves } from "./instance-moves.ts";
import { type FleetLimits, INSTANCES_MAX } from "./limits.ts";
import { type CurrentLoad, currentLoad } from "./loads.ts";
import type { Prober } from "./prober.ts";
import { Probes } from "./probes.ts";
import { Refusals } from "./refusals.ts";
import type { FleetRegistrar, PutOutcome } from "./registry.ts";
import type { IgnoreReason, InstanceEvent } from "./state.ts";

export interface FleetListener {
  /** The process is gone: called at once, before anything else can be seen of its name. */
  deregistered(name: string): void;
  /** Anything but a load has changed. */
  changed(): void;
}

export interface Heartbeat {
  name: string;
  /** The incarnation id; "" from a process that has none. */
  incarnation: string;
  load: LoadReport | null;
  latency: LatencyReport | null;
}

export type HeartbeatOutcome = "accepted" | "not-registered" | "stale-incarnation";

export interface FleetOptions {
  clock: Clock;
  limits: FleetLimits;
  prober: Prober;
  logger: Logger;
}

export class Fleet implements FleetRegistrar {
  /** Set once, before the first registration. */
  listener: FleetListener | null = null;
  readonly #clock: Clock;
  readonly #limits: Required<FleetLimits>;
  readonly #log: FleetLog;
  readonly #moves: InstanceMoves;
  readonly #probes: Probes;
  readonly #refusals: Refusals;
  /** A name and a place have become free since the claims were looked at last. */
  #hasFreed = false;

  constructor({ clock, limits, prober, logger }: FleetOptions) {
    this.#clock = clock;
    this.#limits = { instancesMax: INSTANCES_MAX, ...limits };
    this.#log = new FleetLog(logger);
    this.#probes = new Probes(prober, (name, isAlive) => this.#onProbeEnd(name, isAlive));
    this.#moves = new InstanceMoves({
      limits,
      log: this.#log,
      probes: this.#probes,
      onDeregistered: (name) => {
        this.#hasFreed = true;
        this.listener?.deregistered(name);
      },
    });
    this.#refusals = new Refusals(this.#limits.instancesMax);
  }

  /** Events that meant nothing, by reason. */
  get ignored(): Readonly<Record<IgnoreReason, number>> {
    return this.#moves.ignored;
  }

  put(registry: Registry, registration: InstanceRegistration): PutOutcome {
    const outcome = this.#take(registry, registration);
    this.#settle();
    return outcome;
  }

  loseLease(registry: Registry, name: string, incarnation: string | null): void {
    if (this.#refusals.deleteClaim(registry, name, incarnation)) return;
    this.#moves.apply(name, { type: "lease-lost", registry, incarnation });
    this.#settle();
  }

  remove(registry: Registry, name: string, incarnation: string | null): boolean {
    if (this.#refusals.deleteClaim(registry, name, incarnation)) return false;
    const [effect] = this.#moves.apply(name, { type: "removed", registry, incarnation });
    this.#settle();
    return effect.type !== "ignore";
  }

  refuse(registry: Registry, name: string, reason: string): void {
    this.#refuse({ registry, name, reason }, null);
    if (this.#moves.records.get(name)?.state.registry === registry) {
      this.#moves.apply(name, { type: "removed", registry, incarnation: null });
    }
    this.#settle();
  }

  withdrawRefusal(registry: Registry, name: string): void {
    this.#refusals.delete(registry, name);
  }

  reportLoad(origin: "etcd" | "scrape", name: string, report: LoadReport): void {
    const record = this.#moves.records.get(name);
    if (record === undefined) this.#moves.ignored["not-registered"] += 1;
    else record.loads.receive(origin, report, this.#clock.nowMs());
  }

  heartbeat({ name, incarnation, load, latency }: Heartbeat): HeartbeatOutcome {
    const nowMs = this.#clock.nowMs();
    const record = this.#moves.records.get(name);
    const [effect] = this.#moves.apply(name, { type: "heartbeat", incarnationId: incarnation, nowMs });
    if (record === undefined) return "not-registered";
    if (effect?.type === "ignore") return "stale-incarnation";
    if (load !== null) record.loads.receive("heartbeat", load, nowMs);
    if (latency !== null) record.loads.latency = latency;
    this.#settle();
    return "accepted";
  }

  /** Moves on what only time moves; to be called once a second. */
  tick(): void {
    const event: InstanceEvent = { type: "tick", nowMs: this.#clock.nowMs() };
    for (const { state } of this.#moves.records.values()) this.#moves.apply(state.registration.name, event);
    this.#settle();
  }

  /** By name in code unit order; the same array until something but a load changes. */
  instances(): readonly Instance[] {
    return this.#moves.records.instances();
  }

  instance(name: string): Instance | null {
    return this.#moves.records.get(name)?.instance ?? null;
  }

  /** By name in code unit order, then by registry. */
  refusals(): readonly Refusal[] {
    return this.#refusals.list();
  }

  /** Who asks about many instances at once reads the fleet's clock once. */
  loadOf({ loads }: Instance, nowMs = this.#clock.nowMs()): CurrentLoad {
    return currentLoad(loads, nowMs, this.#limits.loadReportMaxAgeMs);
  }

  /** Moves a MIX instance to the other side; one that is gone or no MIX by now stays as it is. */
  setCurrentRole(name: string, role: "PREFILL" | "DECODE"): void {
    this.#moves.setCurrentRole(name, role);
    this.#settle();
  }

  /** Ends the probes under way. */
  stop(): void {
    this.#probes.stop();
  }

  #take(registry: Registry, registration: InstanceRegistration): PutOutcome {
    const { name } = registration;
    const held = this.#moves.records.get(name)?.state;
    if (held === undefined && this.#moves.records.size >= this.#limits.instancesMax) {
      const reason = `the fleet has ${this.#moves.records.size} instances already, as many as it takes`;
      return this.#refuse({ registry, name, reason }, registration);
    }
    // Who says the same again is described by the same object, for those who keep what they derive from it.
    const isSame = held !== undefined && Bun.deepEquals(held.registration, registration, true);
    const described = isSame ? held.registration : registration;
    const effects = this.#moves.apply(name, { type: "put", registry, registration: described, nowMs: this.#clock.nowMs() });
    if (held !== undefined && effects.some(({ type }) => type === "ignore")) {
      return this.#refuse({ registry, name, reason: `registered through ${held.registry} already` }, registration);
    }
    this.#refusals.delete(registry, name);
    return effects.some(({ type }) => type === "register") ? "registered" : "refreshed";
  }

  #refuse(refusal: Refusal, claim: InstanceRegistration | null): { refused: string } {
    if (this.#refusals.add(refusal, claim)) this.#log.refused(refusal);
    return { refused: refusal.reason };
  }

  #onProbeEnd(name: string, isAlive: boolean): void {
    this.#moves.apply(name, { type: isAlive ? "probe-answered" : "probe-failed", nowMs: this.#clock.nowMs() });
    this.#settle();
  }

  /** Ends what every event begins: claims that can be taken are, and the listener hears of all at once. */
  #settle(): void {
    if (this.#hasFreed) {
      this.#hasFreed = false;
      for (const { registry, registration } of this.#refusals.claims()) this.#take(registry, registration);
    }
    if (this.#moves.takeChange()) this.listener?.changed();
  }
}

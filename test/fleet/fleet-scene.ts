/** A fleet with a clock that stands still, probes that end when they are told to, and what it says written down. */

import type { Logger } from "#base";
import { Fleet } from "../../src/fleet/fleet.ts";
import type { FleetLimits } from "../../src/fleet/limits.ts";
import type { Prober } from "../../src/fleet/prober.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { LIMITS } from "./transition-states.ts";

interface PendingProbe {
  address: string;
  signal: AbortSignal;
  /** The probe has ended once this has. */
  end(isAlive: boolean): Promise<void>;
}

class PendingProber implements Prober {
  readonly probes: PendingProbe[] = [];

  probe(address: string, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = async (isAlive: boolean) => {
      resolve(isAlive);
      await Bun.sleep(0);
    };
    this.probes.push({ address, signal, end });
    return promise;
  }
}

export interface FleetScene {
  fleet: Fleet;
  clock: FakeClock;
  probes: PendingProbe[];
  /** What the listener was told, with the names that could be seen then: `deregistered a; b c`, `changed; b c`. */
  told: string[];
  /** Level and message of each line, with the instance: `warn Instance is suspect: a`. */
  logged: string[];
}

export function createFleet(limits: Partial<FleetLimits> = {}): FleetScene {
  const clock = new FakeClock();
  const prober = new PendingProber();
  const told: string[] = [];
  const logged: string[] = [];
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    logged.push(`${level} ${message}: ${fields?.instance}`);
  };
  const logger: Logger = { info: at("info"), warn: at("warn"), error: at("error") };
  const fleet = new Fleet({ clock, limits: { ...LIMITS, loadReportMaxAgeMs: 10_000, ...limits }, prober, logger });
  const seen = () => fleet.instances().map(({ registration }) => registration.name);
  fleet.listener = {
    deregistered: (name) => told.push([`deregistered ${name};`, ...seen()].join(" ")),
    changed: () => told.push(["changed;", ...seen()].join(" ")),
  };
  return { fleet, clock, probes: prober.probes, told, logged };
}

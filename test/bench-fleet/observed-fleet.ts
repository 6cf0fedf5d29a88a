/** The simulated fleet as a router sees it: its instances, and the load that each has reported last. */

import { assert } from "#base";
import type { LoadReport } from "#domain";
import type { Instance } from "#fleet";
import type { CurrentLoad } from "#routing";
import { instanceOf, registrationOf } from "../support/instances.ts";
import { INCARNATION } from "./fleet-index.ts";

interface ReportedLoad {
  report: LoadReport;
  reportedAtMs: number;
}

export class ObservedFleet {
  /** In name order. */
  readonly instances: readonly Instance[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #loads: ReportedLoad[];

  /** All instances have reported that they are idle. */
  constructor(instanceNames: readonly string[]) {
    this.instances = instanceNames.map((name) => instanceOf(registrationOf(name, { incarnation: INCARNATION })));
    this.#places = new Map(instanceNames.map((name, place) => [name, place]));
    this.#loads = instanceNames.map(() => ({ report: { waitingRequests: 0, cacheUsage: 0 }, reportedAtMs: 0 }));
  }

  report(place: number, report: LoadReport, reportedAtMs: number): void {
    this.#loads[place] = { report, reportedAtMs };
  }

  /** As reported last, by place. */
  waitingRequests(place: number): number {
    return this.#loads[place].report.waitingRequests;
  }

  loadOf(instance: Instance, nowMs: number): CurrentLoad {
    const { report, reportedAtMs } = this.#loads[this.placeOf(instance)];
    return { kind: "known", report, ageMs: nowMs - reportedAtMs };
  }

  placeOf({ registration: { name } }: Instance): number {
    const place = this.#places.get(name);
    assert(place !== undefined, `${name} is of this fleet`);
    return place;
  }
}

/** Names whose order is that of the places. */
export function instanceNames(count: number): string[] {
  return Array.from({ length: count }, (_, place) => `engine-${String(place).padStart(3, "0")}:8000`);
}

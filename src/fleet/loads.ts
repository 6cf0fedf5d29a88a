/** What is reported of one instance's load: the last report of each origin, and which of them counts. */

import { type LatencyReport, type LoadOrigin, type LoadReport, loadProblem } from "#domain";
import type { ReceivedLoad } from "./instance.ts";

export type CurrentLoad =
  | { kind: "known"; report: LoadReport; origin: LoadOrigin; ageMs: number }
  /** Why there is none that counts, for the person on call. */
  | { kind: "unknown"; reason: string };

const NO_REPORT: CurrentLoad = { kind: "unknown", reason: "no load report yet" };

/** Lives as long as its process. What it hands out stays current: readers see each report that comes. */
export class InstanceLoads {
  latency: LatencyReport | null = null;
  readonly #received: ReceivedLoad[] = [];

  /** One of each origin at most. */
  get received(): readonly ReceivedLoad[] {
    return this.#received;
  }

  /** Invalid reports are kept as well: they are the reason why the instance has no load. */
  receive(origin: LoadOrigin, report: LoadReport, receivedAtMs: number): void {
    const known = this.#received.findIndex((load) => load.origin === origin);
    this.#received[known < 0 ? this.#received.length : known] = { origin, report, receivedAtMs };
  }
}

/** The freshest report that is valid and at most `maxAgeMs` old; without one, what is wrong with the freshest of all. */
export function currentLoad(loads: readonly ReceivedLoad[], nowMs: number, maxAgeMs: number): CurrentLoad {
  let freshest: ReceivedLoad | null = null;
  let counting: ReceivedLoad | null = null;
  for (const load of loads) {
    if (freshest === null || load.receivedAtMs > freshest.receivedAtMs) freshest = load;
    if (nowMs - load.receivedAtMs > maxAgeMs || loadProblem(load.report) !== null) continue;
    if (counting === null || load.receivedAtMs > counting.receivedAtMs) counting = load;
  }
  if (counting !== null) {
    return { kind: "known", report: counting.report, origin: counting.origin, ageMs: nowMs - counting.receivedAtMs };
  }
  if (freshest === null) return NO_REPORT;
  return { kind: "unknown", reason: loadProblem(freshest.report) ?? tooOld(nowMs - freshest.receivedAtMs, maxAgeMs) };
}

/** Rounded up, so that the age is always seen to exceed what is allowed. */
function tooOld(ageMs: number, maxAgeMs: number): string {
  return `load report of ${(Math.ceil(ageMs / 100) / 10).toFixed(1)} s ago, at most ${maxAgeMs / 1000} s is allowed`;
}

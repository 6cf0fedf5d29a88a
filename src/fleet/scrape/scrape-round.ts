/**
 * Which instances are looked at, and when: in rounds of one interval, each instance once a round, spread evenly over it. A
 * round that finds no room lasts longer, so that every instance has its turn however many engines hang. Pure.
 */

import { ENGINES, knownEngine, loadProblem } from "#domain";
import type { Instance } from "../instance.ts";
import type { ScrapedEngine } from "./engine-load.ts";

/** The engine whose metrics tell the instance's load; null when none are known. */
export function scrapedEngine({ registration }: Instance): ScrapedEngine | null {
  const engine = knownEngine(registration.backend, ENGINES);
  return engine === "xllm" ? null : engine;
}

/**
 * Whether the instance is to be looked at: it may serve, its engine's metrics are known, and it does not tell its load by
 * itself, which a valid report of the last two intervals shows. `nowMs` is the fleet's clock.
 */
export function isScraped(instance: Instance, nowMs: number, intervalMs: number): boolean {
  if (scrapedEngine(instance) === null || instance.state === "SUSPECT") return false;
  return !instance.loads.some(
    ({ origin, report, receivedAtMs }) =>
      origin === "heartbeat" && nowMs - receivedAtMs < 2 * intervalMs && loadProblem(report) === null,
  );
}

export class ScrapeRound {
  readonly #names: readonly string[];
  readonly #startMs: number;
  readonly #intervalMs: number;
  #taken = 0;

  /** `names` of the instances to look at. */
  constructor(names: readonly string[], startMs: number, intervalMs: number) {
    this.#names = names;
    this.#startMs = startMs;
    this.#intervalMs = intervalMs;
  }

  /** All have had their turn, and the interval is over. */
  isOver(nowMs: number): boolean {
    return this.#taken === this.#names.length && nowMs - this.#startMs >= this.#intervalMs;
  }

  /** When the next round begins: on the beat of the interval, or now if that is a whole interval late. */
  nextStartMs(nowMs: number): number {
    const beatMs = this.#startMs + this.#intervalMs;
    return nowMs - beatMs < this.#intervalMs ? beatMs : nowMs;
  }

  /** The names whose turn has come, at most `room` of them; the others keep theirs. */
  take(nowMs: number, room: number): readonly string[] {
    // Of 4 names in 1000 ms, the first is due at 0 ms, the second at 250 ms.
    const elapsed = Math.min((nowMs - this.#startMs) / this.#intervalMs, 1);
    const due = Math.min(Math.floor(elapsed * this.#names.length) + 1, this.#names.length);
    const end = Math.max(this.#taken, Math.min(due, this.#taken + room));
    const taken = this.#names.slice(this.#taken, end);
    this.#taken = end;
    return taken;
  }
}

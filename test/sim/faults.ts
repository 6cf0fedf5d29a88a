/** The fault plan of one simulation: which faults happen and how often, by the seed; and how often each has happened. */

import type { SeededRandom } from "#sim";

/** Faults and how probable each is whenever it could happen, in a simulation that knows it. */
const RATES = {
  // A live batch.
  "batch dropped": 0.04,
  "batch duplicated": 0.06,
  "batch delayed": 0.15,
  "batch with bad bytes": 0.02,
  "batch of another rank": 0.01,
  "old batch repeated": 0.04,
  "message malformed": 0.02,
  "message of another topic": 0.05,
  "message oversized": 0.01,
  "frame oversized": 0.01,
  // A snapshot.
  "request lost": 0.1,
  "snapshot served late": 0.3,
  "reply delayed": 0.3,
  "reply without its end": 0.1,
  "reply too late": 0.1,
  "reply with bad bytes": 0.1,
  "reply of another rank": 0.05,
  "reply malformed": 0.05,
  "reply oversized": 0.1,
  "reply refused": 0.05,
  "reply doubled": 0.05,
  "end without a reply": 0.05,
  // A replay.
  "replay with a hole": 0.2,
  "replay without its last batches": 0.2,
  "replay cut": 0.1,
  "replay from too early on": 0.1,
  // A publisher.
  restart: 0.01,
  "restart with another cache": 0.006,
  outage: 0.006,
  disconnect: 0.015,
  "messages lost on the way": 0.5,
  "messages left behind late": 0.3,
  "silent for requests": 0.02,
  "full state": 0.06,
  "more blocks than the limit": 0.01,
  burst: 0.02,
  "batch number vanished": 0.02,
  "batch unreadable for good": 0.02,
  // The ingest thread.
  "stream not looked at": 0.2,
} as const;

export type Fault = keyof typeof RATES;

export const FAULTS = Object.keys(RATES) as Fault[];

/** A simulation knows some of the faults, and some of those more than others. */
const FACTORS = [0, 0, 0, 0.5, 2];

export class Faults {
  /** None happens while this is false. */
  areEnabled = true;
  readonly #random: SeededRandom;
  readonly #rates = new Map<Fault, number>();
  readonly #counts: Map<Fault, number>;
  readonly #trace: (text: string) => void;

  /** Adds what happens to `counts`. */
  constructor(random: SeededRandom, counts: Map<Fault, number>, trace: (text: string) => void) {
    this.#random = random;
    this.#counts = counts;
    this.#trace = trace;
    for (const fault of FAULTS) this.#rates.set(fault, RATES[fault] * FACTORS[random.integerBelow(FACTORS.length)]);
  }

  /** Whether the fault, which could happen now, does. */
  happens(fault: Fault): boolean {
    const isPicked = this.#random.nextUint32() < (this.#rates.get(fault) ?? 0) * 2 ** 32;
    if (!isPicked || !this.areEnabled) return false;
    this.#counts.set(fault, (this.#counts.get(fault) ?? 0) + 1);
    this.#trace(fault);
    return true;
  }
}

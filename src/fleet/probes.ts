/** The probes under way, one per instance at most. A probe that was cancelled is never heard of again. */

import type { Prober } from "./prober.ts";

export class Probes {
  readonly #prober: Prober;
  readonly #onEnd: (name: string, isAlive: boolean) => void;
  readonly #underWay = new Map<string, AbortController>();

  /** `onEnd` hears of every probe that was not cancelled, never within `start`. */
  constructor(prober: Prober, onEnd: (name: string, isAlive: boolean) => void) {
    this.#prober = prober;
    this.#onEnd = onEnd;
  }

  start(name: string, address: string): void {
    const probe = new AbortController();
    this.#underWay.set(name, probe);
    this.#prober.probe(address, probe.signal).then((isAlive) => {
      if (this.#underWay.get(name) !== probe) return;
      this.#underWay.delete(name);
      this.#onEnd(name, isAlive);
    });
  }

  cancel(name: string): void {
    this.#underWay.get(name)?.abort();
    this.#underWay.delete(name);
  }

  stop(): void {
    for (const name of this.#underWay.keys()) this.cancel(name);
  }
}

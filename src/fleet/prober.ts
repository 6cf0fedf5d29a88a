/**
 * Asks an instance whose lease is gone whether it lives: `GET /health` must answer exactly 200. The time for an answer runs from
 * when it is asked for, never while it waits for its turn: many leases may run out together, and none may fail for that.
 */

import { setTimeout as delay } from "node:timers/promises";

export interface Prober {
  /** `address` is `host:port`. Resolves to false when it fails or `signal` is aborted; never rejects. */
  probe(address: string, signal: AbortSignal): Promise<boolean>;
}

export interface HealthProberLimits {
  /** Time for one answer. */
  timeoutMs: number;
  /** Tries, at least 1. */
  attempts: number;
}

const BETWEEN_ATTEMPTS_MS = 100;

/** Fewer than the 256 requests that Bun has on their way at once, so that none waits unseen and the rest of the house has room. */
const PROBES_AT_ONCE_MAX = 192;

export class HealthProber implements Prober {
  readonly #limits: HealthProberLimits;
  #running = 0;
  /** In order; as many as there are probes, which are one per instance at most. */
  readonly #waiting: (() => void)[] = [];

  constructor(limits: HealthProberLimits) {
    this.#limits = limits;
  }

  async probe(address: string, signal: AbortSignal): Promise<boolean> {
    await this.#turn();
    try {
      return await this.#ask(address, signal);
    } finally {
      this.#endTurn();
    }
  }

  async #ask(address: string, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 1; attempt <= this.#limits.attempts && !signal.aborted; attempt++) {
      if (await this.#isHealthy(address, signal)) return !signal.aborted;
      if (attempt < this.#limits.attempts) await delay(BETWEEN_ATTEMPTS_MS, null, { signal }).catch(() => null);
    }
    return false;
  }

  async #isHealthy(address: string, signal: AbortSignal): Promise<boolean> {
    const timeout = AbortSignal.timeout(this.#limits.timeoutMs);
    try {
      // A connection kept from before may be one to the process that is gone.
      const { status, body } = await fetch(`http://${address}/health`, {
        redirect: "manual",
        keepalive: false,
        signal: AbortSignal.any([signal, timeout]),
      });
      await body?.cancel();
      return status === 200;
    } catch {
      return false; // refused, cut, timed out or aborted: no answer, which is what was asked
    }
  }

  async #turn(): Promise<void> {
    if (this.#running < PROBES_AT_ONCE_MAX) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The turn goes to whoever waits longest. */
  #endTurn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

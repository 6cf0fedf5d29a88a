import type { Clock } from "#base";

/** A clock that stands still until it is told to go on. */
export class FakeClock implements Clock {
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  advance(durationMs: number): void {
    this.#nowMs += durationMs;
  }
}

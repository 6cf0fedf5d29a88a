/** A stream's timers as deadlines: whoever runs the stream asks for the next one and tells it the time. */

import type { Clock } from "#base";
import type { Timer } from "./state.ts";

export class Timers {
  readonly #clock: Clock;
  readonly #deadlines = new Map<Timer, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts, or starts again. */
  start(timer: Timer, delayMs: number): void {
    this.#deadlines.set(timer, this.#clock.nowMs() + delayMs);
  }

  stop(timer: Timer): void {
    this.#deadlines.delete(timer);
  }

  /** Clock time of the next one; Infinity without any. */
  get nextDeadlineMs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#deadlines.values());
  }

  /** A timer whose time has come, no longer running; null when there is none. */
  takeDue(): Timer | null {
    const nowMs = this.#clock.nowMs();
    for (const [timer, deadlineMs] of this.#deadlines) {
      if (deadlineMs > nowMs) continue;
      this.#deadlines.delete(timer);
      return timer;
    }
    return null;
  }
}

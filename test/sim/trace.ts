import type { Clock } from "#base";

/** Enough to see how it came about, little enough to read. */
const LINES_MAX = 30;

/** What happened last in a simulation. */
export class Trace {
  readonly #clock: Clock;
  readonly #lines: string[] = [];
  #subject = "";

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What `act` adds is about `subject`. */
  of(subject: string, act: () => void): void {
    this.#subject = subject;
    act();
  }

  add(text: string): void {
    this.#lines.push(`${this.#clock.nowMs()} ms ${this.#subject} ${text}`);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

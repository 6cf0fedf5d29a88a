/** Time that passes only by events: what is due next happens next, and of what is due at once, what was planned first. */

import { assert } from "#base";

interface Planned {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class VirtualTime {
  /** A binary heap: the event at n is due before those at 2n + 1 and 2n + 2. */
  readonly #heap: Planned[] = [];
  #order = 0;
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Plans an event, now or later. */
  at(atMs: number, run: () => void): void {
    assert(atMs >= this.#nowMs, `${atMs} ms is not before ${this.#nowMs} ms`);
    this.#heap.push({ atMs, order: this.#order++, run });
    this.#rise(this.#heap.length - 1);
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.#nowMs + delayMs, run);
  }

  /** Until nothing is planned any more. */
  runAll(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      this.#nowMs = next.atMs;
      next.run();
    }
  }

  #take(): Planned | undefined {
    const next = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return next;
  }

  #rise(place: number): void {
    for (let child = place; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!isBefore(this.#heap[child], this.#heap[parent])) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #sink(place: number): void {
    for (let parent = place; ; ) {
      let child = 2 * parent + 1;
      if (child >= this.#heap.length) return;
      if (child + 1 < this.#heap.length && isBefore(this.#heap[child + 1], this.#heap[child])) child++;
      if (!isBefore(this.#heap[child], this.#heap[parent])) return;
      this.#swap(parent, child);
      parent = child;
    }
  }

  #swap(left: number, right: number): void {
    const planned = this.#heap[left];
    this.#heap[left] = this.#heap[right];
    this.#heap[right] = planned;
  }
}

function isBefore(left: Planned, right: Planned): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
}

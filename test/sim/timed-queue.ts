/** A queue whose items arrive at their time, and never before those put in earlier. */
export class TimedQueue<Item> {
  #items: { item: Item; atMs: number }[] = [];

  get length(): number {
    return this.#items.length;
  }

  get nextAtMs(): number {
    return this.#items[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  put(item: Item, atMs: number): void {
    this.#items.push({ item, atMs: Math.max(atMs, this.#items.at(-1)?.atMs ?? atMs) });
  }

  /** The next item if it has arrived, else null. */
  take(nowMs: number): Item | null {
    if (this.nextAtMs > nowMs) return null;
    return this.#items.shift()?.item ?? null;
  }

  /** How many have arrived. */
  receivedBy(nowMs: number): number {
    return this.#items.filter(({ atMs }) => atMs <= nowMs).length;
  }

  /** Keeps only the first `length` items. */
  cut(length: number): void {
    this.#items.length = length;
  }

  /** All items arrive at this time. */
  moveAllTo(atMs: number): void {
    this.#items = this.#items.map(({ item }) => ({ item, atMs }));
  }
}

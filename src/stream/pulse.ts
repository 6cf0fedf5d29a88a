/** Notices a thread that hangs: the thread adds to a counter in each of its turns, and somebody else sees whether it moves. */

const CHECKS_PER_LIMIT = 4;

export class Pulse {
  /** One i32, which the watched thread adds to. */
  readonly memory = new SharedArrayBuffer(4);
  readonly #count = new Int32Array(this.memory);
  readonly #limitMs: number;
  readonly #onHang: () => void;
  #timer: Timer | null = null;

  /** `onHang` is called once when the counter has not moved for `limitMs`. */
  constructor(limitMs: number, onHang: () => void) {
    this.#limitMs = limitMs;
    this.#onHang = onHang;
  }

  /** Begins to watch. */
  watch(): void {
    let last = -1;
    let still = 0;
    this.#timer = setInterval(() => {
      const count = Atomics.load(this.#count, 0);
      still = count === last ? still + 1 : 0;
      last = count;
      if (still < CHECKS_PER_LIMIT) return;
      this.stop();
      this.#onHang();
    }, this.#limitMs / CHECKS_PER_LIMIT);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

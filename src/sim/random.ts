/**
 * Random numbers that a seed repeats exactly: mulberry32, a 32-bit counter put through a mixing function (period 2^32).
 * Good enough to shape traffic and faults; of no use for secrets.
 */

const COUNTER_STEP = 0x6d2b79f5;

export class SeededRandom {
  #counter: number;

  /** Any integer; its low 32 bits are the seed. */
  constructor(seed: number) {
    this.#counter = seed | 0;
  }

  /** The next integer in [0, 2^32). */
  nextUint32(): number {
    this.#counter = (this.#counter + COUNTER_STEP) | 0;
    let mixed = this.#counter;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** An integer in [0, `bound`), for a bound from 1 to 2^32. */
  integerBelow(bound: number): number {
    return Math.floor((this.nextUint32() / 0x1_0000_0000) * bound);
  }

  /** An integer in [`low`, `high`], both included. */
  integerBetween(low: number, high: number): number {
    return low + this.integerBelow(high - low + 1);
  }
}

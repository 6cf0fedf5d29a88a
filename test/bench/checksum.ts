/** A running digest of numbers (FNV-1a over u32 words), so that a row shows what it computed. */

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

export class Checksum {
  #state = OFFSET_BASIS;

  /** Takes in the low 32 bits of each value. */
  add(...values: number[]): this {
    for (const value of values) this.#state = Math.imul(this.#state ^ value, PRIME) >>> 0;
    return this;
  }

  /** Eight hexadecimal digits. */
  toString(): string {
    return this.#state.toString(16).padStart(8, "0");
  }
}

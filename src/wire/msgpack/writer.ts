/**
 * Writes MessagePack as engines do (msgspec): integers in the fewest bytes whether number or bigint, fractions as float64. Bytes
 * that are MessagePack already can be put in as they are.
 */

/** A value to write. A `Map` keeps the order of its keys; `float` is written as float64 even when it is whole. */
export type Packable =
  | null
  | string
  | number
  | bigint
  | Uint8Array
  | readonly Packable[]
  | ReadonlyMap<string, Packable>
  | { readonly float: number }
  | { readonly packed: Uint8Array };

const FIRST_BYTES = 1024;

const encoder = new TextEncoder();

export class MessagePackWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** What has been written, as a copy. */
  take(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Appends one value. Throws RangeError for an integer outside of [-2^63, 2^64). */
  write(value: Packable): void {
    if (value === null) this.#writeByte(0xc0);
    else if (typeof value === "string") this.#writeText(value);
    else if (typeof value === "bigint") this.#writeInteger(value);
    else if (typeof value === "number") this.#writeNumber(value);
    else if (value instanceof Uint8Array) this.#writeBinary(value);
    else if (value instanceof Map) this.#writeMap(value);
    else if ("packed" in value) this.#writeRaw(value.packed);
    else if ("float" in value) this.#writeFloat(value.float);
    else this.#writeArray(value as readonly Packable[]);
  }

  #writeNumber(value: number): void {
    if (Number.isInteger(value)) this.#writeInteger(BigInt(value));
    else this.#writeFloat(value);
  }

  #writeInteger(value: bigint): void {
    if (value >= -32n && value < 128n) this.#writeByte(Number(BigInt.asUintN(8, value)));
    else if (value >= 0n) this.#writeUnsigned(value);
    else this.#writeNegative(value);
  }

  #writeUnsigned(value: bigint): void {
    if (value < 2n ** 8n) this.#writeSized(0xcc, 1, Number(value));
    else if (value < 2n ** 16n) this.#writeSized(0xcd, 2, Number(value));
    else if (value < 2n ** 32n) this.#writeSized(0xce, 4, Number(value));
    else if (value < 2n ** 64n) this.#writeWide(0xcf, value);
    else throw new RangeError(`Cannot write integer: ${value}, less than 2^64 is needed`);
  }

  #writeNegative(value: bigint): void {
    if (value >= -(2n ** 7n)) this.#writeSized(0xd0, 1, Number(value));
    else if (value >= -(2n ** 15n)) this.#writeSized(0xd1, 2, Number(value));
    else if (value >= -(2n ** 31n)) this.#writeSized(0xd2, 4, Number(value));
    else if (value >= -(2n ** 63n)) this.#writeWide(0xd3, BigInt.asUintN(64, value));
    else throw new RangeError(`Cannot write integer: ${value}, at least -2^63 is needed`);
  }

  #writeFloat(value: number): void {
    this.#reserve(9);
    this.#view.setUint8(this.#length, 0xcb);
    this.#view.setFloat64(this.#length + 1, value);
    this.#length += 9;
  }

  #writeText(text: string): void {
    const bytes = encoder.encode(text);
    if (bytes.length < 32) this.#writeByte(0xa0 | bytes.length);
    else this.#writeLength([0xd9, 0xda, 0xdb], bytes.length);
    this.#writeRaw(bytes);
  }

  #writeBinary(bytes: Uint8Array): void {
    this.#writeLength([0xc4, 0xc5, 0xc6], bytes.length);
    this.#writeRaw(bytes);
  }

  #writeArray(values: readonly Packable[]): void {
    if (values.length < 16) this.#writeByte(0x90 | values.length);
    else this.#writeLength([null, 0xdc, 0xdd], values.length);
    for (const value of values) this.write(value);
  }

  #writeMap(entries: ReadonlyMap<string, Packable>): void {
    if (entries.size < 16) this.#writeByte(0x80 | entries.size);
    else this.#writeLength([null, 0xde, 0xdf], entries.size);
    for (const [key, value] of entries) {
      this.#writeText(key);
      this.write(value);
    }
  }

  /** A length in 1, 2 or 4 bytes behind the first byte that stands for that width; null where there is none. */
  #writeLength([one, two, four]: readonly [number | null, number, number], length: number): void {
    if (one !== null && length < 2 ** 8) this.#writeSized(one, 1, length);
    else if (length < 2 ** 16) this.#writeSized(two, 2, length);
    else this.#writeSized(four, 4, length);
  }

  #writeByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  #writeSized(first: number, width: 1 | 2 | 4, value: number): void {
    this.#reserve(1 + width);
    this.#bytes[this.#length++] = first;
    for (let shift = 8 * (width - 1); shift >= 0; shift -= 8) this.#bytes[this.#length++] = value >>> shift;
  }

  #writeWide(first: number, value: bigint): void {
    this.#reserve(9);
    this.#view.setUint8(this.#length, first);
    this.#view.setBigUint64(this.#length + 1, value);
    this.#length += 9;
  }

  #writeRaw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

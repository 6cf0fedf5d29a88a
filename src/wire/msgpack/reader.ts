/**
 * Walks MessagePack bytes from a peer that is not trusted, without creating values. What must hold:
 *
 * - A read that finds another type says so and stays where it is; the caller may `skip`. Bytes that end early or are no
 *   MessagePack break the reader: every further read fails, and `isBroken` tells at the end. Nothing throws.
 * - A length above what is left breaks at once: loops and allocations are bounded by the bytes that are really there.
 * - Nesting costs no stack: `skip` counts values, it does not descend.
 */

import { readBigEndian } from "../big-endian.ts";
import { FIXED_BYTES_OF, KIND, KIND_OF, type Kind, LENGTH_BYTES_OF, lengthAt } from "./format.ts";

const NOTHING = new Uint8Array(0);

/** The words of a float, the high one second, as on every machine that Bun runs on. */
const FLOAT_WORDS = new Uint32Array(2);
const FLOAT_64 = new Float64Array(FLOAT_WORDS.buffer);
const FLOAT_32 = new Float32Array(FLOAT_WORDS.buffer);

export class MessagePackReader {
  /** The last integer as a two's-complement u64 in two words. */
  low = 0;
  high = 0;
  /** The last text or binary: offsets in `bytes`, the end exclusive. */
  rawStart = 0;
  rawEnd = 0;

  #bytes: Uint8Array = NOTHING;
  #offset = 0;
  #isBroken = false;

  /** Starts over on `bytes`, which are read in place. */
  reset(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#offset = 0;
    this.#isBroken = false;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get remainingBytes(): number {
    return this.#bytes.length - this.#offset;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The kind of the next value; INVALID at the end. */
  peek(): Kind {
    return this.#offset < this.#bytes.length ? (KIND_OF[this.#bytes[this.#offset]] as Kind) : KIND.INVALID;
  }

  /** Passes a nil; false when the next value is another. */
  readNil(): boolean {
    return this.#begin(KIND.NIL) >= 0;
  }

  /** Number of elements that follow, or -1 when the next value is no array. */
  readArrayHeader(): number {
    return this.#readContainerHeader(KIND.ARRAY, 1);
  }

  /** Number of key and value pairs that follow, or -1 when the next value is no map. */
  readMapHeader(): number {
    return this.#readContainerHeader(KIND.MAP, 2);
  }

  /** Reads an integer of any width into `low` and `high`; false when the next value is no integer. */
  readInteger(): boolean {
    const start = this.#begin(KIND.INTEGER);
    if (start < 0) return false;
    const bytes = this.#bytes;
    const first = bytes[start];
    switch (first) {
      case 0xcc:
        return this.#setInteger(bytes[start + 1], 0);
      case 0xcd:
        return this.#setInteger(readBigEndian(bytes, start + 1, 2), 0);
      case 0xce:
        return this.#setInteger(readBigEndian(bytes, start + 1, 4), 0);
      case 0xcf:
      case 0xd3:
        return this.#setInteger(readBigEndian(bytes, start + 5, 4), readBigEndian(bytes, start + 1, 4));
      case 0xd0:
        return this.#setSigned((bytes[start + 1] << 24) >> 24);
      case 0xd1:
        return this.#setSigned((readBigEndian(bytes, start + 1, 2) << 16) >> 16);
      case 0xd2:
        return this.#setSigned(readBigEndian(bytes, start + 1, 4) | 0);
      default:
        return this.#setSigned((first << 24) >> 24); // the value is the byte itself, in -32..127
    }
  }

  /** A float of either width, or null when the next value is none. */
  readFloat(): number | null {
    const start = this.#begin(KIND.FLOAT);
    if (start < 0) return null;
    if (this.#bytes[start] === 0xca) {
      FLOAT_WORDS[0] = readBigEndian(this.#bytes, start + 1, 4);
      return FLOAT_32[0];
    }
    FLOAT_WORDS[1] = readBigEndian(this.#bytes, start + 1, 4);
    FLOAT_WORDS[0] = readBigEndian(this.#bytes, start + 5, 4);
    return FLOAT_64[0];
  }

  /** An integer in [0, 2^32), or -1 when the next value is another, which then stays. */
  readUint32(): number {
    const start = this.#offset;
    if (!this.readInteger()) return -1;
    if (this.high === 0) return this.low;
    this.#offset = start;
    return -1;
  }

  /** Reads `count` integers in [0, 2^32) into `lane`; false, behind all of them, when one is another value. Hot loop. */
  readUint32s(lane: Uint32Array, count: number): boolean {
    const bytes = this.#bytes;
    const lastWide = bytes.length - 5; // up to here a value of 5 bytes needs no check
    let offset = this.#offset;
    for (let index = 0; index < count; index++) {
      const first = offset <= lastWide ? bytes[offset] : -1;
      if (first === 0xcd) {
        lane[index] = (bytes[offset + 1] << 8) | bytes[offset + 2];
        offset += 3;
      } else if (first === 0xce) {
        lane[index] = (bytes[offset + 1] << 24) | (bytes[offset + 2] << 16) | (bytes[offset + 3] << 8) | bytes[offset + 4];
        offset += 5;
      } else if (first >= 0 && first < 0x80) {
        lane[index] = first;
        offset += 1;
      } else {
        this.#offset = offset;
        const value = this.readUint32();
        if (value < 0) {
          this.skipMany(count - index);
          return false;
        }
        lane[index] = value;
        offset = this.#offset;
      }
    }
    this.#offset = offset;
    return true;
  }

  /** Reads text into `rawStart` and `rawEnd`; false when the next value is no text. UTF-8 is not checked. */
  readText(): boolean {
    return this.#readRaw(KIND.TEXT);
  }

  /** As `readText`, for binary. */
  readBinary(): boolean {
    return this.#readRaw(KIND.BINARY);
  }

  /** Passes one value of any kind with all that it holds. */
  skip(): void {
    this.skipMany(1);
  }

  /** Passes `count` values. Hot loop: arrays of numbers. */
  skipMany(count: number): void {
    const bytes = this.#bytes;
    let offset = this.#offset;
    for (let pending = count; pending > 0; pending--) {
      const first = offset < bytes.length ? bytes[offset] : 0xc1;
      const kind = KIND_OF[first];
      if (kind !== KIND.INTEGER) {
        const length = lengthAt(bytes, offset);
        if (kind === KIND.ARRAY) pending += length;
        else if (kind === KIND.MAP) pending += 2 * length;
        else offset += length;
        if (kind === KIND.INVALID || pending > bytes.length - offset) {
          this.#break();
          return;
        }
      }
      offset += FIXED_BYTES_OF[first];
    }
    this.#offset = offset;
    if (offset > bytes.length) this.#break();
  }

  /** Passes the first part of a value of `kind` and returns where it began; -1 when the next value is another. */
  #begin(kind: Kind): number {
    const found = this.peek();
    if (found !== kind) {
      if (found === KIND.INVALID) this.#break();
      return -1;
    }
    const start = this.#offset;
    const end = start + FIXED_BYTES_OF[this.#bytes[start]];
    if (end > this.#bytes.length) {
      this.#break();
      return -1;
    }
    this.#offset = end;
    return start;
  }

  #readContainerHeader(kind: Kind, valuesPerElement: number): number {
    const start = this.#begin(kind);
    if (start < 0) return -1;
    const count = lengthAt(this.#bytes, start);
    if (count * valuesPerElement <= this.remainingBytes) return count; // a value has at least one byte
    this.#break();
    return -1;
  }

  #readRaw(kind: Kind): boolean {
    const start = this.#begin(kind);
    if (start < 0) return false;
    const first = this.#bytes[start];
    const lengthBytes = LENGTH_BYTES_OF[first];
    this.rawStart = start + 1 + lengthBytes;
    this.rawEnd = this.#offset + (lengthBytes === 0 ? 0 : lengthAt(this.#bytes, start));
    if (this.rawEnd > this.#bytes.length) {
      this.#break();
      return false;
    }
    this.#offset = this.rawEnd;
    return true;
  }

  #setInteger(low: number, high: number): true {
    this.low = low;
    this.high = high;
    return true;
  }

  #setSigned(value: number): true {
    return this.#setInteger(value >>> 0, value < 0 ? 0xffff_ffff : 0);
  }

  #break(): void {
    this.#offset = this.#bytes.length;
    this.#isBroken = true;
  }
}

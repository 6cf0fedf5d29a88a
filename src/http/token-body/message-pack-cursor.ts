/**
 * A walk over MessagePack that knows the byte where it stands. It proves that all that a header announces is there before the
 * library makes values of it: the library reserves an announced array at once, so a few bytes could otherwise take megabytes.
 */

import { Problem } from "../problem.ts";

/** What follows a header: bytes of its own, then `values` further values (two for each entry of a map). */
interface Header {
  kind: "map" | "array" | "binary" | "scalar";
  payloadBytes: number;
  values: number;
}

export class MessagePackCursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** The next byte to read. */
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Takes the next value whole, all values within it included. Throws a 400 problem when some of it is missing. */
  skipValue(): void {
    for (let pending = 1; pending > 0; pending--) {
      const { payloadBytes, values } = this.readHeader();
      this.offset += payloadBytes;
      pending += values;
    }
  }

  /** Takes a header; what it announces is still to be read, and is there if every value has its least size. */
  readHeader(): Header {
    const start = this.offset;
    const header = this.#parseHeader();
    const neededBytes = header.payloadBytes + header.values;
    const foundBytes = this.bytes.length - this.offset;
    if (neededBytes > foundBytes) {
      throw malformedMessagePack(
        start,
        `the body is cut off, found ${foundBytes} more bytes, at least ${neededBytes} are needed`,
      );
    }
    return header;
  }

  #parseHeader(): Header {
    const head = this.#readLength(1);
    if (head <= 0x7f || head >= 0xe0) return scalar(0);
    if (head <= 0x8f) return map(head & 0x0f);
    if (head <= 0x9f) return array(head & 0x0f);
    if (head <= 0xbf) return scalar(head & 0x1f);
    switch (head) {
      case 0xc0: // nil
      case 0xc2: // false
      case 0xc3: // true
        return scalar(0);
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return { kind: "binary", payloadBytes: this.#readLength(1 << (head - 0xc4)), values: 0 };
      case 0xc7: // ext of 8, 16 and 32-bit length: the type byte comes before the data
      case 0xc8:
      case 0xc9:
        return scalar(this.#readLength(1 << (head - 0xc7)) + 1);
      case 0xca: // float 32, float 64
      case 0xcb:
        return scalar(4 << (head - 0xca));
      case 0xcc: // uint 8 to uint 64
      case 0xcd:
      case 0xce:
      case 0xcf:
        return scalar(1 << (head - 0xcc));
      case 0xd0: // int 8 to int 64
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return scalar(1 << (head - 0xd0));
      case 0xd4: // ext of 1, 2, 4, 8, 16 bytes
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return scalar((1 << (head - 0xd4)) + 1);
      case 0xd9: // str of 8, 16 and 32-bit length
      case 0xda:
      case 0xdb:
        return scalar(this.#readLength(1 << (head - 0xd9)));
      case 0xdc:
      case 0xdd:
        return array(this.#readLength(2 << (head - 0xdc)));
      case 0xde:
      case 0xdf:
        return map(this.#readLength(2 << (head - 0xde)));
      default:
        throw malformedMessagePack(this.offset - 1, "found byte 0xc1, which begins no value of MessagePack");
    }
  }

  /** A big-endian number of 1, 2 or 4 bytes. */
  #readLength(bytes: number): number {
    if (this.offset + bytes > this.bytes.length) throw malformedMessagePack(this.offset, "the body is cut off within a header");
    const { view, offset } = this;
    this.offset += bytes;
    if (bytes === 1) return view.getUint8(offset);
    return bytes === 2 ? view.getUint16(offset) : view.getUint32(offset);
  }
}

/** The 400 problem of a body that is not MessagePack at byte `offset`. */
export function malformedMessagePack(offset: number, what: string, cause?: unknown): Problem {
  return new Problem("malformed-body", {
    detail: `Cannot decode the MessagePack body at byte ${offset}: ${what}`,
    errors: [{ detail: what, offset }],
    cause,
  });
}

function scalar(payloadBytes: number): Header {
  return { kind: "scalar", payloadBytes, values: 0 };
}

function array(values: number): Header {
  return { kind: "array", payloadBytes: 0, values };
}

function map(entries: number): Header {
  return { kind: "map", payloadBytes: 0, values: 2 * entries };
}

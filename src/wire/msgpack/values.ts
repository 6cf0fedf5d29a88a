/**
 * The few MessagePack values that become JavaScript values: copies, independent of the bytes they are read from. Each function
 * passes exactly one value, whatever it is, and answers null when that is none of its kind.
 */

import { KIND } from "./format.ts";
import type { MessagePackReader } from "./reader.ts";

const HIGH_WORD = 2 ** 32;

// A name that is not UTF-8 must not become equal to another one, and a byte order mark is part of a name.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An integer that a number holds exactly. */
export function readSafeInteger(reader: MessagePackReader): number | null {
  if (!reader.readInteger()) {
    reader.skip();
    return null;
  }
  const value = (reader.high | 0) * HIGH_WORD + reader.low;
  return Number.isSafeInteger(value) ? value : null;
}

/** A float, or an integer that a number holds exactly. */
export function readNumber(reader: MessagePackReader): number | null {
  return reader.peek() === KIND.FLOAT ? reader.readFloat() : readSafeInteger(reader);
}

/** Text that is UTF-8. */
export function readString(reader: MessagePackReader): string | null {
  if (!reader.readText()) {
    reader.skip();
    return null;
  }
  if (reader.rawStart === reader.rawEnd) return "";
  try {
    return decoder.decode(reader.bytes.slice(reader.rawStart, reader.rawEnd)); // decoders refuse views of shared memory
  } catch {
    return null;
  }
}

/** Binary. */
export function readBytes(reader: MessagePackReader): Uint8Array | null {
  if (reader.readBinary()) return reader.bytes.slice(reader.rawStart, reader.rawEnd);
  reader.skip();
  return null;
}

/** Any value, as its MessagePack bytes; those up to the end when they break. */
export function copyValue(reader: MessagePackReader): Uint8Array<ArrayBuffer> {
  const start = reader.bytes.length - reader.remainingBytes;
  reader.skip();
  const copy = new Uint8Array(reader.bytes.length - reader.remainingBytes - start);
  copy.set(reader.bytes.subarray(start, start + copy.length));
  return copy;
}

/**
 * Engine hashes as u64 in two words: integers of any width and sign as two's complement, or 8 bytes of a digest, which may be
 * written as hex text. An engine names the same block by an integer and by a digest that ends in it.
 */

import { readBigEndian } from "../big-endian.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";

/** Which bytes of a digest are the hash: `last8` is what engines themselves do. */
export type DigestFolding = "last8" | "first8";

const HASH_BYTES = 8;
const HASH_DIGITS = 2 * HASH_BYTES;

/** Reads one hash into the reader's `low` and `high`; false, with the value passed, when it is no hash. */
export function readEngineHash(reader: MessagePackReader, folding: DigestFolding): boolean {
  if (reader.readInteger()) return true;
  if (reader.readBinary()) return foldDigest(reader, folding);
  if (reader.readText()) return foldHexDigits(reader, folding);
  reader.skip();
  return false;
}

/** Reads `count` hashes into `lanes` (low word at 2n); false, behind all of them, when one is no hash. */
export function readEngineHashes(reader: MessagePackReader, lanes: Uint32Array, count: number, folding: DigestFolding): boolean {
  for (let index = 0; index < count; index++) {
    if (!readEngineHash(reader, folding)) {
      reader.skipMany(count - index - 1);
      return false;
    }
    lanes[2 * index] = reader.low;
    lanes[2 * index + 1] = reader.high;
  }
  return true;
}

function foldDigest(reader: MessagePackReader, folding: DigestFolding): boolean {
  if (reader.rawEnd - reader.rawStart < HASH_BYTES) return false;
  const start = folding === "last8" ? reader.rawEnd - HASH_BYTES : reader.rawStart;
  reader.high = readBigEndian(reader.bytes, start, 4);
  reader.low = readBigEndian(reader.bytes, start + 4, 4);
  return true;
}

/** `0x` and digits are a number of that many; bare digits must be a digest's, so that no decimal is taken for one. */
function foldHexDigits(reader: MessagePackReader, folding: DigestFolding): boolean {
  const { bytes, rawEnd } = reader;
  const isPrefixed =
    rawEnd - reader.rawStart > 2 && bytes[reader.rawStart] === 0x30 && (bytes[reader.rawStart + 1] | 0x20) === 0x78;
  const start = isPrefixed ? reader.rawStart + 2 : reader.rawStart;
  if (!isPrefixed && rawEnd - start < HASH_DIGITS) return false;
  const foldStart = folding === "last8" ? rawEnd - HASH_DIGITS : start;
  const foldEnd = Math.min(rawEnd, foldStart + HASH_DIGITS);
  let low = 0;
  let high = 0;
  for (let offset = start; offset < rawEnd; offset++) {
    const digit = hexDigit(bytes[offset]);
    if (digit < 0) return false;
    if (offset < foldStart || offset >= foldEnd) continue;
    high = ((high << 4) | (low >>> 28)) >>> 0;
    low = ((low << 4) | digit) >>> 0;
  }
  reader.low = low;
  reader.high = high;
  return true;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

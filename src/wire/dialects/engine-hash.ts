/** Engine hashes as u64 in two words: integers of any width and sign as two's complement, or the last 8 bytes of a digest. */

import { readBigEndian } from "../big-endian.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";

const HASH_BYTES = 8;

/** Reads one hash into the reader's `low` and `high`; false, with the value passed, when it is no hash. */
export function readEngineHash(reader: MessagePackReader): boolean {
  if (reader.readInteger()) return true;
  if (!reader.readBinary()) {
    reader.skip();
    return false;
  }
  if (reader.rawEnd - reader.rawStart < HASH_BYTES) return false;
  const start = reader.rawEnd - HASH_BYTES;
  reader.high = readBigEndian(reader.bytes, start, 4);
  reader.low = readBigEndian(reader.bytes, start + 4, 4);
  return true;
}

/** Reads `count` hashes into `lanes` (low word at 2n); false, behind all of them, when one is no hash. */
export function readEngineHashes(reader: MessagePackReader, lanes: Uint32Array, count: number): boolean {
  for (let index = 0; index < count; index++) {
    if (!readEngineHash(reader)) {
      reader.skipMany(count - index - 1);
      return false;
    }
    lanes[2 * index] = reader.low;
    lanes[2 * index + 1] = reader.high;
  }
  return true;
}

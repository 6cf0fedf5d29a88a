/** The tokens of an event: integers, or with a bigram draft model pairs: `[t0, t1], [t1, t2], …` for the tokens t0, t1, …. */

import { KIND } from "../msgpack/format.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";

/** Reads `count` tokens into `lane`; false, behind all of them, when one is no u32 and no pair that begins with one. */
export function readTokenIds(reader: MessagePackReader, lane: Uint32Array, count: number): boolean {
  const arePairs = count > 0 && reader.peek() === KIND.ARRAY;
  return arePairs ? readFirstsOfPairs(reader, lane, count) : reader.readUint32s(lane, count);
}

function readFirstsOfPairs(reader: MessagePackReader, lane: Uint32Array, count: number): boolean {
  for (let index = 0; index < count; index++) {
    const size = reader.readArrayHeader();
    const token = size === 2 ? reader.readUint32() : -1;
    if (token < 0) {
      reader.skipMany((size < 0 ? 1 : size) + count - index - 1);
      return false;
    }
    lane[index] = token;
    reader.skip();
  }
  return true;
}

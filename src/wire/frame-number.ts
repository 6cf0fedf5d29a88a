/** The 8-byte big-endian numbers of the protocol's frames: batch sequences, watermarks, the end marker. */

import { readBigEndian } from "./big-endian.ts";

export const NUMBER_FRAME_BYTES = 8;

const HIGH_WORD = 2 ** 32;

/** The number at `offset` of `bytes`, or null above 2^53 - 1: no publisher counts that far. */
export function readFrameNumber(bytes: Uint8Array, offset: number): number | null {
  const value = readBigEndian(bytes, offset, 4) * HIGH_WORD + readBigEndian(bytes, offset + 4, 4);
  return value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** Whether the 8 bytes at `offset` are the end marker, all ones. */
export function isEndMarker(bytes: Uint8Array, offset: number): boolean {
  return readBigEndian(bytes, offset, 4) === 0xffff_ffff && readBigEndian(bytes, offset + 4, 4) === 0xffff_ffff;
}

/** A frame with `value`, an integer in [0, 2^53). */
export function writeFrameNumber(value: number): Uint8Array {
  const frame = new Uint8Array(NUMBER_FRAME_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint32(0, Math.floor(value / HIGH_WORD));
  view.setUint32(4, value % HIGH_WORD);
  return frame;
}

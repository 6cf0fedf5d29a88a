/** Big-endian numbers inside byte views that are too many to wrap in a DataView each. */

/** Unsigned number of `width` (1 to 4) bytes at `offset`, all of which must exist. */
export function readBigEndian(bytes: Uint8Array, offset: number, width: number): number {
  let value = 0;
  for (let index = 0; index < width; index++) value = (value << 8) | bytes[offset + index];
  return value >>> 0;
}

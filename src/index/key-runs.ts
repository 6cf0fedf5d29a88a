/**
 * How a namespace cuts a chain of blocks into runs: before some of its blocks the chain is re-keyed with their canonical bytes.
 * Events and prompts both go through here, so that they come to the same content keys.
 */

import { concatenate, type Namespace } from "#domain";

/** Bytes of one re-keying; longer ones re-key the chain piece by piece. assembly/layout.ts has the area. */
export const KEY_BYTES_MAX = 65_536;

/** Consecutive blocks that need nothing between them. */
export interface KeyRun {
  /** What the chain is re-keyed with before the first of them; null or empty: it goes on as it is. */
  bytes: Uint8Array | null;
  from: number;
  to: number;
}

/** The runs of a chain's next `blocks` blocks, at its root or behind a parent; the first has the first of the extra keys. */
export function* keyRuns({ root, extraKeys }: Namespace, hasParent: boolean, blocks: number): Generator<KeyRun> {
  let bytes = joined(hasParent ? null : root, extraKeys?.[0] ?? null);
  let from = 0;
  const keyed = Math.min(blocks, extraKeys?.length ?? 0);
  for (let block = 1; block < keyed; block++) {
    const next = extraKeys?.[block] ?? null;
    if (next === null) continue;
    yield { bytes, from, to: block };
    bytes = next;
    from = block;
  }
  yield { bytes, from, to: blocks };
}

/** Hands the bytes to the kernel in pieces: each is put into `area`, then `rekeyPiece` is told its length. */
export function rekey(bytes: Uint8Array, area: Uint8Array, rekeyPiece: (length: number) => void): void {
  for (let from = 0; from < bytes.length; from += KEY_BYTES_MAX) {
    const piece = bytes.subarray(from, from + KEY_BYTES_MAX);
    area.set(piece);
    rekeyPiece(piece.length);
  }
}

function joined(root: Uint8Array | null, extraKey: Uint8Array | null): Uint8Array | null {
  return root !== null && extraKey !== null ? concatenate([root, extraKey]) : (root ?? extraKey);
}

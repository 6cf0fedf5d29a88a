/**
 * AIBrix's prefix hashes, for programs that speak to its gateway: a chain of XXH64 over full blocks. They are not Warmpath's
 * content keys.
 *
 *   hash[n] = XXH64(hash[n-1] u64 little-endian ‖ tokens of block n, each u32 big-endian), hash[-1] = seed, XXH64's own seed 0
 */

import createXxhash from "xxhash-wasm";

const PARENT_BYTES = 8;
const TOKEN_BYTES = 4;
const UINT32_MAX = 0xffff_ffff;
const UINT64_MAX = 0xffff_ffff_ffff_ffffn;

const { h64Raw } = await createXxhash();

export interface PrefixHashOptions {
  /** Tokens per block, a positive integer. */
  blockSize: number;
  /** The gateway's seed, an unsigned 64-bit integer; it stands in for the first block's parent. */
  seed: bigint;
}

/**
 * One hash for each full block of `tokens`; tokens behind the last full block do not count. Throws RangeError for a block size, a
 * seed or a token out of range.
 */
export function prefixHashes(tokens: ArrayLike<number>, { blockSize, seed }: PrefixHashOptions): bigint[] {
  if (!Number.isInteger(blockSize) || blockSize < 1) {
    throw new RangeError(`Cannot hash prefixes: block size ${blockSize}, a positive integer is needed`);
  }
  if (seed < 0n || seed > UINT64_MAX) {
    throw new RangeError(`Cannot hash prefixes: seed ${seed}, an unsigned 64-bit integer is needed`);
  }
  const block = new Uint8Array(PARENT_BYTES + blockSize * TOKEN_BYTES);
  const view = new DataView(block.buffer);
  const hashes: bigint[] = [];
  let parent = seed;
  for (let start = 0; start + blockSize <= tokens.length; start += blockSize) {
    view.setBigUint64(0, parent, true);
    for (let index = 0; index < blockSize; index++) {
      view.setUint32(PARENT_BYTES + index * TOKEN_BYTES, tokenAt(tokens, start + index));
    }
    parent = h64Raw(block);
    hashes.push(parent);
  }
  return hashes;
}

function tokenAt(tokens: ArrayLike<number>, position: number): number {
  const token = tokens[position];
  if (Number.isInteger(token) && token >= 0 && token <= UINT32_MAX) return token;
  throw new RangeError(`Cannot hash prefixes: token ${token} at position ${position}, an integer from 0 to 2^32 - 1 is needed`);
}

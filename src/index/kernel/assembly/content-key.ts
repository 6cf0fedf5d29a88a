// Content keys: key[0] = XXH3-128(tokens of block 0), key[n] = XXH3-128(key[n-1] ‖ tokens of block n). Tokens are u32
// little-endian, a key is 16 bytes, low word first. The same chain as xLLM's own block hashes.

import { digest, digestHigh } from "./xxh3";

/**
 * Low word of the key of the block at `tokens`; `digestHigh` has the high one. A parent's key is put into the 16 bytes before
 * the tokens, and what stood there is put back: hashing in place is cheaper than gathering both in a buffer.
 */
export function blockKey(tokens: usize, tokenBytes: usize, parent: usize, hasParent: bool, seed: u64, secret: usize): u64 {
  if (!hasParent) return digest(tokens, tokenBytes, seed, secret);
  const input = tokens - 16;
  const before = v128.load(input);
  v128.store(input, v128.load(parent));
  const low = digest(input, tokenBytes + 16, seed, secret);
  v128.store(input, before);
  return low;
}

/** Writes the keys of a prompt's `blocks` blocks, 16 bytes each, at `keys`. */
export function promptKeys(tokens: usize, blocks: u32, tokenBytes: usize, seed: u64, secret: usize, keys: usize): void {
  for (let block: u32 = 0; block < blocks; block++) {
    const low = blockKey(tokens + (<usize>block) * tokenBytes, tokenBytes, keys - 16, block > 0, seed, secret);
    store<u64>(keys, low);
    store<u64>(keys, digestHigh, 8);
    keys += 16;
  }
}

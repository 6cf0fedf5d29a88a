// Content keys: key[0] = XXH3-128(tokens of block 0), key[n] = XXH3-128(key[n-1] ‖ tokens of block n). Tokens are u32
// little-endian, a key is 16 bytes, low word first. The same chain as xLLM's own block hashes. Where a namespace's bytes apply,
// the chain is re-keyed: XXH3-128(key before ‖ bytes), or of the bytes alone at a root, takes the place of the key before.

import { digest, digestHigh } from "./xxh3";

/**
 * Low word of the key of the block at `tokens`; `digestHigh` has the high one. `parent` is where the key before stands, 0 at a
 * root. It is put into the 16 bytes before the tokens, and what stood there is put back: hashing in place is cheaper than
 * gathering both in a buffer.
 */
export function blockKey(tokens: usize, tokenBytes: usize, parent: usize, seed: u64, secret: usize): u64 {
  if (parent == 0) return digest(tokens, tokenBytes, seed, secret);
  const input = tokens - 16;
  const before = v128.load(input);
  v128.store(input, v128.load(parent));
  const low = digest(input, tokenBytes + 16, seed, secret);
  v128.store(input, before);
  return low;
}

/** Writes to `key` what the key at `parent`, 0 at a root, becomes under the bytes; the 16 bytes before them must be free. */
export function rekey(bytes: usize, length: usize, parent: usize, seed: u64, secret: usize, key: usize): void {
  store<u64>(key, blockKey(bytes, length, parent, seed, secret));
  store<u64>(key, digestHigh, 8);
}

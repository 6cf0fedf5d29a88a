// The prompt at hand, of this reader: the keys of its blocks, computed in runs between which a namespace re-keys the chain.

import { blockKey, rekey } from "./content-key";
import { readerBytes, readerKeys, readerParent, readerSecret, readerTokens } from "./layout";
import { deriveSecret, digestHigh } from "./xxh3";

let tokenBytes: usize = 0;
let seed: u64 = 0;
let hashed: u32 = 0;
/** Where the key before the next block stands; 0 at a root. */
let parent: usize = 0;

/** The prompt whose tokens are at `readerTokens` begins; none of its blocks has a key yet. */
export function beginPrompt(blockSize: u32, seedLow: u32): void {
  deriveSecret(readerSecret, <u64>seedLow);
  tokenBytes = (<usize>blockSize) << 2;
  seed = <u64>seedLow;
  hashed = 0;
  parent = 0;
}

/** Re-keys the chain before the next block with the bytes at `readerBytes`. */
export function rekeyPrompt(length: u32): void {
  rekey(readerBytes, <usize>length, parent, seed, readerSecret, readerParent);
  parent = readerParent;
}

/** Computes the keys of the next `blocks` blocks; the tokens stay as they are. */
export function hashPrompt(blocks: u32): void {
  let tokens = readerTokens + (<usize>hashed) * tokenBytes, key = readerKeys + ((<usize>hashed) << 4);
  for (let block: u32 = 0; block < blocks; block++) {
    store<u64>(key, blockKey(tokens, tokenBytes, parent, seed, readerSecret));
    store<u64>(key, digestHigh, 8);
    parent = key;
    tokens += tokenBytes;
    key += 16;
  }
  hashed += blocks;
}

/** Tokens for a trace that has none: those of a block follow from its hash id alone. */

import { BLOCK_TOKENS, type TracedRequest } from "./trace.ts";

/** Tokens are below 2^17: the size of a common vocabulary. */
const TOKEN_BITS = 17;

/** Writes the prompt to the start of `tokens`. */
export function writePromptTokens({ inputTokens, hashIds }: TracedRequest, tokens: Uint32Array): void {
  for (let block = 0; block < hashIds.length; block++) {
    const start = block * BLOCK_TOKENS;
    writeBlockTokens(hashIds[block], tokens, start, Math.min(start + BLOCK_TOKENS, inputTokens));
  }
}

/** Writes the block's tokens at `start`, those before `end`. */
export function writeBlockTokens(hashId: number, tokens: Uint32Array, start: number, end: number): void {
  let counter = hashId * BLOCK_TOKENS;
  for (let place = start; place < end; place++) tokens[place] = mix(counter++) >>> (32 - TOKEN_BITS);
}

/** MurmurHash3's finalizer: one-to-one on 32 bits. */
export function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/**
 * Keys of a prompt's prefixes, for predictions only: a prefix is known by a 53-bit number, so that maps find it without bigints
 * or strings. Two prompts share a key when they share everything before and in it; by chance once in 2^53.
 *
 *   stride    the least whole number of blocks that has STRIDE_TOKENS_MIN tokens: the step of predictions
 *   key[n]    53 bits of two 32-bit lanes, each xxHash32(stride n, seed = its value after stride n-1); the namespace goes before
 */

import { concatenate, type Namespace } from "#domain";

/** Short blocks are taken together: a key for each block of 16 tokens would cost more than the whole decision. */
const STRIDE_TOKENS_MIN = 128;

/** Keys of one prompt at most, 131,072 tokens or more: longer prompts are predicted up to there. */
export const STRIDES_MAX = 1024;

const SECOND_LANE_SEED = 0x9e3779b9;

const NO_KEYS: readonly Uint8Array[] = [];

export interface PromptKeys {
  readonly strideTokens: number;
  /** One for each full stride of the prompt. */
  readonly keys: Float64Array;
}

/** Tokens of one stride of an engine whose blocks have `blockSize` tokens. */
export function strideTokensOf(blockSize: number): number {
  return blockSize * Math.ceil(STRIDE_TOKENS_MIN / blockSize);
}

/** The keys of a prompt under its namespace, whose extra keys are by block of `blockSize`. Costs two short hashes a stride. */
export function promptKeys(tokens: Uint32Array, blockSize: number, namespace: Namespace | null): PromptKeys {
  const strideTokens = strideTokensOf(blockSize);
  const keys = new Float64Array(Math.min(Math.floor(tokens.length / strideTokens), STRIDES_MAX));
  let low = 0;
  let high = SECOND_LANE_SEED;
  const mix = (part: Uint8Array | Uint32Array) => {
    low = Bun.hash.xxHash32(part, low);
    high = Bun.hash.xxHash32(part, high);
  };
  if (namespace?.root) mix(namespace.root);
  for (let stride = 0; stride < keys.length; stride++) {
    const start = stride * strideTokens;
    const end = start + strideTokens;
    for (const part of extraKeysWithin(namespace, start / blockSize, end / blockSize)) mix(part);
    mix(tokens.subarray(start, end));
    keys[stride] = (high & 0x1fffff) * 2 ** 32 + low;
  }
  return { strideTokens, keys };
}

/** The extra keys of blocks `from` to `to`, each behind its block's place: the same item in another block makes another prompt. */
function extraKeysWithin(namespace: Namespace | null, from: number, to: number): readonly Uint8Array[] {
  if (!namespace?.extraKeys) return NO_KEYS;
  const blocks = namespace.extraKeys.slice(from, to);
  return blocks.flatMap((bytes, block) => (bytes === null ? [] : [concatenate([Uint8Array.of(block), bytes])]));
}

/**
 * A prompt as a chain of full blocks. The engine's own hash of a block is XXH64 of its tokens seeded with the parent's hash (a
 * root's parent is the engine's seed), so a hash stands for everything up to the end of its block, and two engines with
 * different seeds never agree on one.
 */

export interface Block {
  readonly hash: bigint;
  /** Null for a root. */
  readonly parentHash: bigint | null;
  /** Blocks before this one in its chain. */
  readonly depth: number;
  readonly tokens: Uint32Array;
}

/** The first `blocksMax` full blocks of a prompt, root first; each holds its own copy of its tokens. */
export function chainBlocks(tokens: Uint32Array, blockSize: number, seed: bigint, blocksMax: number): Block[] {
  const blockCount = Math.min(Math.floor(tokens.length / blockSize), blocksMax);
  const chain: Block[] = [];
  let parentHash: bigint | null = null;
  for (let depth = 0; depth < blockCount; depth++) {
    const blockTokens = tokens.slice(depth * blockSize, (depth + 1) * blockSize);
    const hash: bigint = Bun.hash.xxHash64(blockTokens, parentHash ?? seed);
    chain.push({ hash, parentHash, depth, tokens: blockTokens });
    parentHash = hash;
  }
  return chain;
}

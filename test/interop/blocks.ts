/** The content that peers cache: chains of small blocks, with tokens over all of u32 and engine hashes over all of u64. */

/** Tokens per block, on the peers' side and in the configuration. */
export const BLOCK_SIZE = 4;

export interface Block {
  hash: bigint;
  parent: bigint | null;
  tokens: readonly number[];
}

/** `length` blocks behind `parent`. The same name and parent give the same blocks; any other give other contents. */
export function chain(name: string, length: number, parent: Block | null = null): Block[] {
  const blocks: Block[] = [];
  for (let index = 0; index < length; index++) {
    const before = blocks.at(-1) ?? parent;
    const hash = Bun.hash.xxHash64(`${name} ${index} after ${before?.hash}`);
    const low = Number(BigInt.asUintN(32, hash));
    const tokens = Array.from({ length: BLOCK_SIZE }, (_, position) => (low + position) % 2 ** 32);
    blocks.push({ hash, parent: before?.hash ?? null, tokens });
  }
  return blocks;
}

/** A prompt of these blocks and a few tokens more, which make no complete block. */
export function promptTokens(blocks: readonly Block[]): number[] {
  return [...blocks.flatMap(({ tokens }) => tokens), 1, 2];
}

/** Two prompts that share nothing, and one that leaves the first after four blocks. */
export const LEFT = chain("left", 8);
export const RIGHT = chain("right", 8);
export const BRANCH = [...LEFT.slice(0, 4), ...chain("branch", 4, LEFT[3])];

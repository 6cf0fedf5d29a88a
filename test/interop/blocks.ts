/** The content that peers cache: chains of small blocks, with tokens over all of u32 and engine hashes over all of u64. */

/** Tokens per block, on the peers' side and in the configuration. */
export const BLOCK_SIZE = 4;

/** A multimodal item and where it begins in the block, or any text. */
export type ExtraKey = string | readonly [identifier: string, offset: number];

/** What sets a chain apart from another with the same tokens. */
export interface Namespace {
  loraName?: string;
  /** Of an adapter without a name. */
  loraId?: number;
  cacheSalt?: string;
  /** By block, from the root on. */
  extraKeys?: readonly (readonly ExtraKey[])[];
}

export interface Block {
  hash: bigint;
  parent: bigint | null;
  tokens: readonly number[];
  /** Blocks between the root and this one. */
  depth: number;
  /** Of the whole chain; empty for plain text. */
  namespace: Namespace;
}

const PLAIN: Namespace = {};

/** `length` blocks behind `parent`. The same name and parent give the same blocks; any other give other contents. */
export function chain(name: string, length: number, parent: Block | null = null): Block[] {
  const blocks: Block[] = [];
  for (let index = 0; index < length; index++) {
    const before = blocks.at(-1) ?? parent;
    const hash = Bun.hash.xxHash64(`${name} ${index} after ${before?.hash}`);
    const low = Number(BigInt.asUintN(32, hash));
    const tokens = Array.from({ length: BLOCK_SIZE }, (_, position) => (low + position) % 2 ** 32);
    const depth = before === null ? 0 : before.depth + 1;
    blocks.push({ hash, parent: before?.hash ?? null, tokens, depth, namespace: before?.namespace ?? PLAIN });
  }
  return blocks;
}

/** The same tokens in a namespace: under other hashes from the first block on that it says something about. */
export function inNamespace(namespace: Namespace, blocks: readonly Block[]): Block[] {
  const rename = (hash: bigint, depth: number) => {
    const said = Array.from({ length: depth + 1 }, (_, block) => ownKeys(namespace, block));
    const { loraName = "", loraId = 0 } = namespace;
    const isPlain = loraName === "" && loraId === 0 && said.every((keys) => keys.length === 0);
    return isPlain ? hash : Bun.hash.xxHash64(`${hash} in ${loraName} ${loraId} ${JSON.stringify(said)}`);
  };
  return blocks.map((block) => ({
    ...block,
    hash: rename(block.hash, block.depth),
    parent: block.parent === null ? null : rename(block.parent, block.depth - 1),
    namespace,
  }));
}

/** The keys of one block of a chain: a salt is the last one of the first block. */
export function ownKeys({ cacheSalt, extraKeys }: Namespace, depth: number): readonly ExtraKey[] {
  const keys = extraKeys?.[depth] ?? [];
  return depth === 0 && cacheSalt !== undefined ? [...keys, cacheSalt] : keys;
}

/** A prompt of these blocks and a few tokens more, which make no complete block. */
export function promptTokens(blocks: readonly Block[]): number[] {
  return [...blocks.flatMap(({ tokens }) => tokens), 1, 2];
}

/** Two prompts that share nothing, and one that leaves the first after four blocks. */
export const LEFT = chain("left", 8);
export const RIGHT = chain("right", 8);
export const BRANCH = [...LEFT.slice(0, 4), ...chain("branch", 4, LEFT[3])];

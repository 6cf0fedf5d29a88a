/**
 * Prompts that can be made again at any time from their numbers, and who holds them: a prompt's owner has every block of it,
 * three more streams have blocks at its front, so that streams drop out along the way. No two prompts share a block.
 */

import type { BlockStored, Tier } from "#domain";
import { SeededRandom, VOCABULARY_SIZE } from "#sim";

export interface PromptCorpusOptions {
  blockSize: number;
  /** Tokens of a prompt: a multiple of four blocks. */
  promptTokens: number;
  /** Distinct blocks of all prompts: a multiple of a prompt's. */
  blocks: number;
  /** At least `holders`. */
  streams: number;
  /** Streams that hold a prompt, in whole or in part: 1 to 4. */
  holders: number;
}

export interface Holding {
  stream: number;
  /** Blocks from the front of the prompt. */
  blocks: number;
  tier: Tier;
}

/** The owner's holding, and its next neighbours'. */
const SHARES = [
  { share: 1, tier: "device" },
  { share: 3 / 4, tier: "host" },
  { share: 1 / 2, tier: "device" },
  { share: 1 / 4, tier: "device" },
] as const;

export class PromptCorpus {
  /** What the corpus is made from again in another thread. */
  readonly options: Readonly<PromptCorpusOptions>;
  readonly blockSize: number;
  readonly promptTokens: number;
  readonly streams: number;
  readonly promptCount: number;
  readonly #blocksPerPrompt: number;

  constructor(options: PromptCorpusOptions) {
    const { blockSize, promptTokens, blocks, streams } = options;
    this.options = options;
    this.blockSize = blockSize;
    this.promptTokens = promptTokens;
    this.streams = streams;
    this.#blocksPerPrompt = promptTokens / blockSize;
    this.promptCount = blocks / this.#blocksPerPrompt;
  }

  /** Writes the prompt's first `count` tokens, by default all, to the front of `tokens`. */
  writeTokens(prompt: number, tokens: Uint32Array, count: number = this.promptTokens): void {
    const random = new SeededRandom(prompt);
    for (let at = 0; at < count; at++) tokens[at] = random.integerBelow(VOCABULARY_SIZE);
  }

  /** Who holds the prompt. */
  holdings(prompt: number): Holding[] {
    return SHARES.slice(0, this.options.holders).map(({ share, tier }, neighbour) => {
      return { stream: (prompt + neighbour) % this.streams, blocks: this.#blocksPerPrompt * share, tier };
    });
  }

  /** The event by which `tokens`, the prompt's, come to be held like that. */
  announce(prompt: number, { blocks, tier }: Holding, tokens: Uint32Array): BlockStored {
    const hashLanes = new Uint32Array(blocks * 2);
    for (let block = 0; block < blocks; block++) {
      hashLanes[block * 2] = block;
      hashLanes[block * 2 + 1] = prompt;
    }
    const { blockSize } = this;
    const root = { hasParent: false, parentLow: 0, parentHigh: 0, namespace: null };
    return { hashLanes, hashCount: blocks, ...root, tokens, tokenCount: blocks * blockSize, blockSize, tier };
  }
}

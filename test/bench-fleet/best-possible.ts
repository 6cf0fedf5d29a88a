/**
 * What no router can better: every prompt finds all that any earlier request had in it, in one cache without end, and an engine that
 * waits for it alone.
 */

import { prefillMs, reusableBlocks } from "./engine-model.ts";
import { BLOCK_TOKENS, type Trace } from "./trace.ts";

export interface BestPossible {
  /** By request. */
  cachedTokens: number[];
  ttftMs: number[];
}

export function bestPossible({ requests }: Trace): BestPossible {
  const seen = new Set<number>();
  const cachedTokens = requests.map((request) => {
    const reusable = request.blocks.slice(0, reusableBlocks(request));
    const firstNew = reusable.findIndex((block) => !seen.has(block));
    for (const block of request.blocks) seen.add(block);
    return (firstNew < 0 ? reusable.length : firstNew) * BLOCK_TOKENS;
  });
  return { cachedTokens, ttftMs: requests.map(({ inputTokens }, id) => prefillMs(inputTokens, cachedTokens[id])) };
}

/** What must hold all the time while something happens. */

import { expect } from "bun:test";
import type { FleetSite } from "./fleet-site.ts";
import { PROMPT_TOKENS, promptOf } from "./played-engine.ts";

const CHECK_MS = 5;

/** Runs `check` again and again from before `body` begins until after it has ended; throws the first error of either. */
export async function whileChecking(check: () => Promise<void>, body: () => Promise<void>): Promise<void> {
  await check();
  let isOver = false;
  const checking = (async () => {
    while (!isOver) {
      await check();
      await Bun.sleep(CHECK_MS);
    }
    await check();
  })();
  const ended = body().finally(() => {
    isOver = true;
  });
  await Promise.all([ended, checking]);
}

/** A check that rank 0 stays synchronized and holds the prompt, and that neither its batches nor its blocks ever fall. */
export function keepsIndex(site: FleetSite, name: string, promptNumber: number): () => Promise<void> {
  let sequence = 0;
  let blocks = 0;
  return async () => {
    const [match] = await site.matches(name, promptOf(promptNumber));
    expect(match).toMatchObject({ synchronized: true, device_hit_tokens: PROMPT_TOKENS });
    expect(match.sequence).toBeGreaterThanOrEqual(sequence);
    expect(match.device_blocks).toBeGreaterThanOrEqual(blocks);
    sequence = match.sequence;
    blocks = match.device_blocks;
  };
}

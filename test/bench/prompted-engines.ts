/** Simulated engines that hold a prompt to different depths, and the wait until Warmpath knows what they hold. */

import { assert } from "#base";
import { runEngines, SeededRandom, SimulatedEngine, VOCABULARY_SIZE } from "#sim";

export const BLOCK_SIZE = 128;

/** What the first engines hold of the prompt, from its front. */
export const SHARES = [1, 3 / 4, 1 / 2, 1 / 4];

/** Far above what connecting and one snapshot take. */
const SYNCHRONIZE_TIMEOUT_MS = 20_000;

export function randomPrompt(tokenCount: number): Uint32Array {
  const random = new SeededRandom(1);
  return Uint32Array.from({ length: tokenCount }, () => random.integerBelow(VOCABULARY_SIZE));
}

/** Engines that have their share of the prompt in their caches and nothing else; those behind the first few hold nothing. */
export function startEngines(count: number, prompt: Uint32Array): SimulatedEngine[] {
  return Array.from({ length: count }, (_, number) =>
    startEngine(number, prompt.subarray(0, prompt.length * (SHARES[number] ?? 0))),
  );
}

/** Lets the engines answer until `isSynchronized` is true. */
export async function synchronize(engines: readonly SimulatedEngine[], isSynchronized: () => Promise<boolean>): Promise<void> {
  const stopping = new AbortController();
  const running = runEngines(engines, { intervalMs: 2, signal: stopping.signal });
  const deadlineMs = performance.now() + SYNCHRONIZE_TIMEOUT_MS;
  while (!(await isSynchronized())) {
    assert(performance.now() < deadlineMs, `every stream is synchronized within ${SYNCHRONIZE_TIMEOUT_MS} ms`);
    await Bun.sleep(5);
  }
  stopping.abort();
  await running;
}

function startEngine(number: number, held: Uint32Array): SimulatedEngine {
  const engine = new SimulatedEngine({
    name: `engine-${String(number).padStart(3, "0")}:8000`,
    cache: {
      blockSize: BLOCK_SIZE,
      deviceBlocksMax: Math.max(1, held.length / BLOCK_SIZE),
      hostBlocksMax: 0,
      chainSeed: BigInt(number),
      offloadForm: "with-tokens",
    },
  });
  engine.step([held]);
  return engine;
}

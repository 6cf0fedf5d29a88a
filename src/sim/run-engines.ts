/** Keeps engines going in the background of a program that does other things. */

import type { SimulatedEngine } from "./engine.ts";

export interface RunOptions {
  /** Pause between two rounds: also the longest that a snapshot request waits, and that stopping takes. */
  intervalMs: number;
  /** Stops the run; the promise resolves within a round and an interval, and the engines are untouched afterwards. */
  signal: AbortSignal;
  /** What a round does after requests were answered, for instance one step of one engine; it must be short. */
  work?: () => void;
}

/**
 * Answers the engines' snapshot requests and does some work, round after round, until stopped. A round takes bounded time as
 * far as `work` does. An error ends the run and rejects the promise.
 */
export async function runEngines(engines: readonly SimulatedEngine[], { intervalMs, signal, work }: RunOptions): Promise<void> {
  while (!signal.aborted) {
    for (const engine of engines) engine.serve();
    work?.();
    await Bun.sleep(intervalMs);
  }
}

/** A process that is one engine with a prompt in its cache, until it is killed. */

import { runEngines, SimulatedEngine } from "#sim";
import { giveResult, takeOrder } from "./child-process.ts";

export interface EngineOrder {
  name: string;
  eventPort: number;
  replayPort: number;
  blockSize: number;
  tokens: number[];
}

/** Whoever started it may have died without ending it. */
const LIFE_MAX_MS = 120_000;

/** Longest that a snapshot request waits. */
const INTERVAL_MS = 1;

const { name, eventPort, replayPort, blockSize, tokens } = await takeOrder<EngineOrder>();
const deviceBlocksMax = tokens.length / blockSize;
const cache = { blockSize, deviceBlocksMax, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" } as const;
const engine = new SimulatedEngine({ name, cache, eventPort, replayPort });
engine.step([Uint32Array.from(tokens)]);
giveResult("it listens");
await runEngines([engine], { intervalMs: INTERVAL_MS, signal: AbortSignal.timeout(LIFE_MAX_MS) });

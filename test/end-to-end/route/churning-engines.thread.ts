/** A thread in which simulated engines compute one prompt after another, without a pause, until a message ends it. */

import { SeededRandom, SimulatedEngine } from "#sim";
import { BLOCK_SIZE, promptTokens, TOPIC } from "./played-rank.ts";

declare const self: Worker;

/** What an engine is to be registered with. */
export interface ChurningEngine {
  name: string;
  endpoint: string;
  replayEndpoint: string;
}

const ENGINES = 8;

/** So few that prompts soon push each other out. */
const DEVICE_BLOCKS = 64;

/** One step in so many computes the prompt that requests ask for, up to a length by chance; the others something else. */
const ASKED_SHARE = 1 / 4;

const random = new SeededRandom(1);
const asked = Uint32Array.from(promptTokens());
const engines = Array.from({ length: ENGINES }, (_, number) => {
  return new SimulatedEngine({
    name: `${"abcdefgh"[number]}:1`,
    topic: TOPIC,
    cache: {
      blockSize: BLOCK_SIZE,
      deviceBlocksMax: DEVICE_BLOCKS,
      hostBlocksMax: DEVICE_BLOCKS,
      chainSeed: BigInt(number),
      offloadForm: "without-tokens",
    },
  });
});

function step(engine: SimulatedEngine): void {
  const tokenCount = BLOCK_SIZE * random.integerBetween(1, asked.length / BLOCK_SIZE);
  const isAsked = random.integerBelow(1 / ASKED_SHARE) === 0;
  const other = () => Uint32Array.from({ length: tokenCount }, () => random.integerBelow(1000));
  engine.step([isAsked ? asked.subarray(0, tokenCount) : other()]);
}

postMessage(
  engines.map(({ name, stream }): ChurningEngine => {
    return { name, endpoint: stream.endpoint, replayEndpoint: stream.replayEndpoint };
  }),
);

const churning = setInterval(() => {
  for (const engine of engines) {
    step(engine);
    engine.serve();
  }
}, 0);

self.onmessage = () => {
  clearInterval(churning);
  for (const engine of engines) engine.close();
  process.exit(0); // ends this thread only
};

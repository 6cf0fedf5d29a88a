/** A whole Warmpath in this process, with a few simulated engines that hold a prompt to different depths. */

import { assert, type Logger } from "#base";
import { type Config, loadConfig } from "#config";
import { Service } from "#service";
import { runEngines, SeededRandom, SimulatedEngine, VOCABULARY_SIZE } from "#sim";
import { fetchAnswer } from "./query-request.ts";

const BLOCK_SIZE = 128;

/** What the engines hold of the prompt, from its front. */
const SHARES = [1, 3 / 4, 1 / 2, 1 / 4];

/** Far above what connecting and one snapshot take. */
const SYNCHRONIZE_TIMEOUT_MS = 10_000;

/** No snapshot is asked for while queries are measured. */
const RESYNC_INTERVAL_MS = 3_600_000;

const QUIET: Logger = { info: () => {}, warn: () => {}, error: () => {} };

export class ServedFleet {
  readonly prompt: Uint32Array;
  readonly #engines: readonly SimulatedEngine[];
  readonly #service: Service;

  private constructor(prompt: Uint32Array, engines: readonly SimulatedEngine[], service: Service) {
    this.prompt = prompt;
    this.#engines = engines;
    this.#service = service;
  }

  /** Done when every stream is synchronized. */
  static async start(promptTokens: number): Promise<ServedFleet> {
    const random = new SeededRandom(1);
    const prompt = Uint32Array.from({ length: promptTokens }, () => random.integerBelow(VOCABULARY_SIZE));
    const engines = SHARES.map((share, n) => startEngine(n, prompt.subarray(0, promptTokens * share)));
    const service = await Service.start(await configure(engines), QUIET);
    const fleet = new ServedFleet(prompt, engines, service);
    await fleet.#synchronize();
    return fleet;
  }

  get port(): number {
    return this.#service.port;
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    for (const engine of this.#engines) engine.close();
  }

  /** Whether an answer for the prompt says what each engine holds of it. */
  isRight(answer: string): boolean {
    const { matches } = JSON.parse(answer) as { matches: { synchronized: boolean; device_hit_tokens: number }[] };
    const expected = SHARES.map((share) => this.prompt.length * share);
    if (matches.length !== expected.length) return false;
    return matches.every(({ synchronized, device_hit_tokens }, n) => synchronized && device_hit_tokens === expected[n]);
  }

  async #synchronize(): Promise<void> {
    const stopping = new AbortController();
    const running = runEngines(this.#engines, { intervalMs: 2, signal: stopping.signal });
    const deadlineMs = performance.now() + SYNCHRONIZE_TIMEOUT_MS;
    while (!(await this.#isSynchronized())) {
      assert(performance.now() < deadlineMs, `every stream is synchronized within ${SYNCHRONIZE_TIMEOUT_MS} ms`);
      await Bun.sleep(5);
    }
    stopping.abort();
    await running;
  }

  async #isSynchronized(): Promise<boolean> {
    const answer = await fetchAnswer(this.port, this.prompt);
    return answer.status === 200 && this.isRight(await answer.text());
  }
}

/** An engine that has the prompt in its cache and nothing else. */
function startEngine(number: number, prompt: Uint32Array): SimulatedEngine {
  const blocks = prompt.length / BLOCK_SIZE;
  const engine = new SimulatedEngine({
    name: `engine-${number}:8000`,
    cache: {
      blockSize: BLOCK_SIZE,
      deviceBlocksMax: blocks,
      hostBlocksMax: 0,
      chainSeed: BigInt(number),
      offloadForm: "with-tokens",
    },
  });
  engine.step([prompt]);
  return engine;
}

async function configure(engines: readonly SimulatedEngine[]): Promise<Config> {
  const config = await loadConfig(["--http-server-port", "0"], {});
  assert(config !== "help", "no help was asked for");
  const streams = engines.map(({ stream }) => stream);
  return { ...config, kvEvents: { ...config.kvEvents, resyncIntervalMs: RESYNC_INTERVAL_MS, streams } };
}

/** A whole Warmpath in this process, with a few simulated engines that hold a prompt to different depths. */

import { assert } from "#base";
import { type Config, loadConfig } from "#config";
import { Service } from "#service";
import type { SimulatedEngine } from "#sim";
import { QUIET } from "../support/quiet-logger.ts";
import { randomPrompt, SHARES, startEngines, synchronize } from "./prompted-engines.ts";
import { fetchAnswer } from "./query-request.ts";

/** No snapshot is asked for while queries are measured. */
const RESYNC_INTERVAL_MS = 3_600_000;

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
    const prompt = randomPrompt(promptTokens);
    const engines = startEngines(SHARES.length, prompt);
    const fleet = new ServedFleet(prompt, engines, await Service.start(await configure(engines), QUIET));
    await synchronize(engines, () => fleet.#isSynchronized());
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

  async #isSynchronized(): Promise<boolean> {
    const answer = await fetchAnswer(this.port, this.prompt);
    return answer.status === 200 && this.isRight(await answer.text());
  }
}

async function configure(engines: readonly SimulatedEngine[]): Promise<Config> {
  const config = await loadConfig(["--http-server-port", "0"], {});
  assert(config !== "help", "no help was asked for");
  const streams = engines.map(({ stream }) => stream);
  return { ...config, kvEvents: { ...config.kvEvents, resyncIntervalMs: RESYNC_INTERVAL_MS, streams } };
}

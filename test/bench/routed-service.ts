/** A whole Warmpath in this process, to which many simulated engines registered; the first of them holds a whole prompt. */

import { assert } from "#base";
import { type Config, loadConfig } from "#config";
import { Service } from "#service";
import type { SimulatedEngine } from "#sim";
import { QUIET } from "../support/quiet-logger.ts";
import { BLOCK_SIZE, randomPrompt, startEngines, synchronize } from "./prompted-engines.ts";

/** Engines have 0 to so many requests waiting, in turn; the first has none. */
const WAITING_MAX = 6;

/** Nothing is reported or asked for again while requests are measured. */
const LONG_MS = 3_600_000;
const LEASE_SECONDS = 3600;

export class RoutedService {
  readonly prompt: Uint32Array;
  readonly #engines: readonly SimulatedEngine[];
  readonly #service: Service;

  private constructor(prompt: Uint32Array, engines: readonly SimulatedEngine[], service: Service) {
    this.prompt = prompt;
    this.#engines = engines;
    this.#service = service;
  }

  /** Done when every engine may be routed to, and is listened to. */
  static async start(engineCount: number, promptTokens: number): Promise<RoutedService> {
    const prompt = randomPrompt(promptTokens);
    const engines = startEngines(engineCount, prompt);
    const routed = new RoutedService(prompt, engines, await Service.start(await configure(), QUIET));
    for (const [number, engine] of engines.entries()) await routed.#join(engine, number % (WAITING_MAX + 1));
    await synchronize(engines, () => routed.#isSynchronized());
    return routed;
  }

  get port(): number {
    return this.#service.port;
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    for (const engine of this.#engines) engine.close();
  }

  async #join({ name, stream: { topic, endpoint, replayEndpoint } }: SimulatedEngine, waiting: number): Promise<void> {
    const endpoints = { event_endpoints: [endpoint], replay_endpoints: [replayEndpoint] };
    const registration = { name, engine: "xllm", block_size: BLOCK_SIZE, topic, ...endpoints, lease_seconds: LEASE_SECONDS };
    await this.#post("/v1/instances", registration);
    await this.#post("/v1/internal/heartbeat", { name, load_metrics: { waiting_requests_num: waiting } });
  }

  async #isSynchronized(): Promise<boolean> {
    const response = await fetch(this.#url("/v1/instances"));
    if (!response.ok) return false;
    const { instances } = (await response.json()) as { instances: { streams: { synchronized: boolean }[] }[] };
    return instances.every(({ streams }) => streams.length === 1 && streams[0].synchronized);
  }

  async #post(path: string, body: object): Promise<void> {
    const headers = { "content-type": "application/json" };
    const response = await fetch(this.#url(path), { method: "POST", headers, body: JSON.stringify(body) });
    assert(response.ok, `${path} is taken: ${response.status} ${await response.text()}`);
  }

  #url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }
}

async function configure(): Promise<Config> {
  const config = await loadConfig(["--http-server-port=0", `--load-report-max-age-ms=${LONG_MS}`], {});
  assert(config !== "help", "no help was asked for");
  return { ...config, kvEvents: { ...config.kvEvents, resyncIntervalMs: LONG_MS } };
}

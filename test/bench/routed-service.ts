/** A whole Warmpath in this process, to which many simulated engines registered; the first of them holds a whole prompt. */

import { assert, type Logger } from "#base";
import { type Config, loadConfig } from "#config";
import { Service } from "#service";
import { runEngines, SeededRandom, SimulatedEngine, VOCABULARY_SIZE } from "#sim";

const BLOCK_SIZE = 128;

/** What the first engines hold of the prompt, from its front; the others hold nothing. */
const SHARES = [1, 3 / 4, 1 / 2, 1 / 4];

/** Engines have 0 to so many requests waiting, in turn; the first has none. */
const WAITING_MAX = 6;

/** Far above what connecting and one snapshot take. */
const SYNCHRONIZE_TIMEOUT_MS = 20_000;

/** Nothing is reported or asked for again while requests are measured. */
const LONG_MS = 3_600_000;
const LEASE_SECONDS = 3600;

const QUIET: Logger = { info: () => {}, warn: () => {}, error: () => {} };

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
    const random = new SeededRandom(1);
    const prompt = Uint32Array.from({ length: promptTokens }, () => random.integerBelow(VOCABULARY_SIZE));
    const engines = Array.from({ length: engineCount }, (_, number) => {
      return startEngine(number, prompt.subarray(0, promptTokens * (SHARES[number] ?? 0)));
    });
    const routed = new RoutedService(prompt, engines, await Service.start(await configure(), QUIET));
    const stopping = new AbortController();
    const running = runEngines(engines, { intervalMs: 2, signal: stopping.signal });
    await routed.#synchronize();
    stopping.abort();
    await running;
    return routed;
  }

  get port(): number {
    return this.#service.port;
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    for (const engine of this.#engines) engine.close();
  }

  async #synchronize(): Promise<void> {
    for (const [number, engine] of this.#engines.entries()) await this.#join(engine, number % (WAITING_MAX + 1));
    const deadlineMs = performance.now() + SYNCHRONIZE_TIMEOUT_MS;
    while (!(await this.#isSynchronized())) {
      assert(performance.now() < deadlineMs, `every stream is synchronized within ${SYNCHRONIZE_TIMEOUT_MS} ms`);
      await Bun.sleep(5);
    }
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

/** An engine that has the prompt in its cache and nothing else. */
function startEngine(number: number, prompt: Uint32Array): SimulatedEngine {
  const engine = new SimulatedEngine({
    name: `engine-${String(number).padStart(3, "0")}:8000`,
    cache: {
      blockSize: BLOCK_SIZE,
      deviceBlocksMax: Math.max(1, prompt.length / BLOCK_SIZE),
      hostBlocksMax: 0,
      chainSeed: BigInt(number),
      offloadForm: "with-tokens",
    },
  });
  engine.step([prompt]);
  return engine;
}

async function configure(): Promise<Config> {
  const config = await loadConfig(["--http-server-port=0", `--load-report-max-age-ms=${LONG_MS}`], {});
  assert(config !== "help", "no help was asked for");
  return { ...config, kvEvents: { ...config.kvEvents, resyncIntervalMs: LONG_MS } };
}

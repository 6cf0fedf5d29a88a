/** A whole Warmpath in this process whose fleet comes and goes, over HTTP and, where there is one, through etcd. */

import { assert } from "#base";
import { type Config, loadConfig } from "#config";
import { Service } from "#service";
import { SeededRandom, VOCABULARY_SIZE } from "#sim";
import { EtcdRegistrar } from "../support/etcd-registrar.ts";
import { EtcdServer } from "../support/etcd-server.ts";
import { QUIET } from "../support/quiet-logger.ts";
import { EngineProcess, EVENT_PORT_OFFSET, REPLAY_PORT_OFFSET } from "./engine-process.ts";
import { fetchAnswer } from "./query-request.ts";

const BLOCK_SIZE = 128;
const PROMPT_TOKENS = 4096;
const TOPIC = "xllm-kv";

/** Far above what anything here takes. */
const TIMEOUT_MS = 10_000;

export class ChangingFleet {
  readonly #service: Service;
  readonly #prompt: Uint32Array;
  readonly #etcd: { server: EtcdServer; registrar: EtcdRegistrar } | null;

  private constructor(service: Service, prompt: Uint32Array, etcd: EtcdServer | null) {
    this.#service = service;
    this.#prompt = prompt;
    this.#etcd = etcd === null ? null : { server: etcd, registrar: new EtcdRegistrar(etcd.endpoint) };
  }

  /** `etcdBinary` null: there is no etcd. Done when queries are answered. */
  static async start(etcdBinary: string | null): Promise<ChangingFleet> {
    const random = new SeededRandom(1);
    const prompt = Uint32Array.from({ length: PROMPT_TOKENS }, () => random.integerBelow(VOCABULARY_SIZE));
    const etcd = etcdBinary === null ? null : await EtcdServer.start(etcdBinary);
    const fleet = new ChangingFleet(await Service.start(await configure(etcd), QUIET), prompt, etcd);
    await fleet.#answers(({ status }) => status === 200);
    return fleet;
  }

  startEngine(): Promise<EngineProcess> {
    return EngineProcess.start(this.#prompt, BLOCK_SIZE);
  }

  async registerOverHttp({ name, eventEndpoint, replayEndpoint }: EngineProcess): Promise<void> {
    const registration = {
      name,
      engine: "xllm",
      block_size: BLOCK_SIZE,
      topic: TOPIC,
      event_endpoints: [eventEndpoint],
      replay_endpoints: [replayEndpoint],
    };
    const response = await fetch(`http://127.0.0.1:${this.#service.port}/v1/instances`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(registration),
    });
    assert(response.status === 201, `the registration is taken: ${response.status} ${await response.text()}`);
  }

  async registerInEtcd({ name }: EngineProcess): Promise<void> {
    assert(this.#etcd !== null, "there is an etcd");
    await this.#etcd.registrar.put("PREFILL", name);
  }

  /** Asks without a pause until the engine has credit for its prompt. The tokens that it is credited with. */
  async credited(engine: EngineProcess): Promise<number> {
    let tokens = 0;
    await this.#answers(async (response) => {
      tokens = await creditOf(engine, response);
      return tokens > 0;
    });
    return tokens;
  }

  /** Asks without a pause until the engine has no credit any more. */
  async uncredited(engine: EngineProcess): Promise<void> {
    await this.#answers(async (response) => (await creditOf(engine, response)) === 0);
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    this.#etcd?.registrar.close();
    await this.#etcd?.server.stop();
  }

  async #answers(isRight: (response: Response) => boolean | Promise<boolean>): Promise<void> {
    const deadlineMs = performance.now() + TIMEOUT_MS;
    while (!(await isRight(await fetchAnswer(this.#service.port, this.#prompt)))) {
      assert(performance.now() < deadlineMs, `Warmpath follows within ${TIMEOUT_MS} ms`);
    }
  }
}

async function creditOf({ name }: EngineProcess, response: Response): Promise<number> {
  const { matches } = (await response.json()) as { matches: { instance_name: string; device_hit_tokens: number }[] };
  return matches.find(({ instance_name }) => instance_name === name)?.device_hit_tokens ?? 0;
}

async function configure(etcd: EtcdServer | null): Promise<Config> {
  const config = await loadConfig(["--http-server-port", "0", ...(etcd === null ? [] : ["--etcd-addr", etcd.endpoint])], {});
  assert(config !== "help", "no help was asked for");
  const discovery = {
    ...config.kvEvents.discovery,
    enabled: true,
    blockSize: BLOCK_SIZE,
    topic: TOPIC,
    eventPortOffset: EVENT_PORT_OFFSET,
    replayPortOffset: REPLAY_PORT_OFFSET,
  };
  return { ...config, kvEvents: { ...config.kvEvents, discovery } };
}

/**
 * A Warmpath in this process, with the engines that a test plays for it and, where it asks for one, an etcd of its own. What it
 * says is read over HTTP, as operators and routers read it.
 */

import { createLogger } from "#base";
import { loadConfig } from "#config";
import { Service } from "#service";
import type { InstanceAnswer, InstancesAnswer } from "../../../src/http/instances/schema.ts";
import type { InstanceMatch } from "../../../src/http/query/schema.ts";
import { EtcdRegistrar } from "../../support/etcd-registrar.ts";
import { EtcdServer } from "../../support/etcd-server.ts";
import { untilReady, writeKvEventsFile } from "../warmpath-process.ts";
import { DISCOVERY, PlayedEngine } from "./played-engine.ts";

/** Short, and still far longer than a look at an instance takes. */
export const LEASE_LOST_TIMEOUT_MS = 1500;
const SUSPECT_TIMEOUT_MS = 1500;

const FLAGS = [
  "--http-server-port=0",
  "--instance-delete-probe-timeout-ms=500",
  "--instance-delete-probe-attempts=2",
  `--lease-lost-heartbeat-timeout-ms=${LEASE_LOST_TIMEOUT_MS}`,
  `--suspect-timeout-ms=${SUSPECT_TIMEOUT_MS}`,
];

const SEEN_TIMEOUT_MS = 10_000;
const LOOK_MS = 5;

/** Log lines that the report of a failure shows. */
const LOG_LINES_SHOWN = 40;

export interface FleetSiteOptions {
  flags?: readonly string[];
  environment?: Record<string, string>;
  /** Null: no KV events file is given. */
  kvEventsFile?: object | null;
}

interface Answer {
  status: number;
  /** Parsed; null when there is none. */
  body: unknown;
}

export class FleetSite {
  readonly logLines: readonly string[];
  readonly #service: Service;
  readonly #etcd: { server: EtcdServer; registrar: EtcdRegistrar } | null;
  readonly #engines: PlayedEngine[] = [];
  #fences = 0;

  private constructor(service: Service, logLines: readonly string[], etcd: FleetSite["etcd"] | null) {
    this.#service = service;
    this.logLines = logLines;
    this.#etcd = etcd;
  }

  /** Resolves when Warmpath is ready. */
  static async start(options: FleetSiteOptions = {}): Promise<FleetSite> {
    const site = await FleetSite.startUnready(options);
    await untilReady(site.port);
    return site;
  }

  /** Resolves when Warmpath listens. */
  static async startUnready(options: FleetSiteOptions): Promise<FleetSite> {
    const logLines: string[] = [];
    return new FleetSite(await startService(options, logLines), logLines, null);
  }

  /** With an etcd that only this Warmpath and its tests use; resolves when Warmpath is ready. */
  static async startWithEtcd(binary: string, { flags = [], ...options }: FleetSiteOptions = {}): Promise<FleetSite> {
    const server = await EtcdServer.start(binary);
    const logLines: string[] = [];
    const service = await startService({ ...options, flags: [`--etcd-addr=${server.endpoint}`, ...flags] }, logLines);
    await untilReady(service.port);
    return new FleetSite(service, logLines, { server, registrar: new EtcdRegistrar(server.endpoint) });
  }

  get port(): number {
    return this.#service.port;
  }

  get etcd(): { server: EtcdServer; registrar: EtcdRegistrar } {
    if (this.#etcd === null) throw new Error("Cannot use etcd: the site has none, start it with one");
    return this.#etcd;
  }

  /** An engine that runs until the site stops; nobody has registered it. */
  engine(rankCount = 1): PlayedEngine {
    const engine = new PlayedEngine(rankCount);
    this.#engines.push(engine);
    return engine;
  }

  async request(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  }

  async heartbeat(name: string, incarnation: string, fields: object = {}): Promise<number> {
    const body = { name, incarnation_id: incarnation, ...fields };
    return (await this.request("POST", "/v1/internal/heartbeat", body)).status;
  }

  async list(): Promise<InstancesAnswer> {
    return this.#read("GET", "/v1/instances");
  }

  /** Null when it is not registered. */
  async instance(name: string): Promise<InstanceAnswer | null> {
    const { status, body } = await this.request("GET", `/v1/instances/${encodeURIComponent(name)}`);
    return status === 404 ? null : (body as InstanceAnswer);
  }

  /** What the instance's ranks hold of the prompt; empty when it has no streams. */
  async matches(name: string, prompt: Uint32Array): Promise<InstanceMatch[]> {
    const question = { token_ids: [...prompt], instance_names: [name] };
    const { matches } = await this.#read<{ matches: InstanceMatch[] }>("POST", "/v1/internal/kv-cache/query", question);
    return matches;
  }

  /** Tokens of the prompt that rank 0 has on its device; 0 also when it has no stream. */
  async hitTokens(name: string, prompt: Uint32Array): Promise<number> {
    const match = (await this.matches(name, prompt)).find(({ dp_rank }) => dp_rank === 0);
    return match?.device_hit_tokens ?? 0;
  }

  /** Resolves once the instance, null while it is not registered, is as `look` wants it. */
  async sees(what: string, name: string, look: (instance: InstanceAnswer | null) => boolean): Promise<void> {
    const deadlineMs = performance.now() + SEEN_TIMEOUT_MS;
    for (;;) {
      const instance = await this.instance(name);
      if (look(instance)) return;
      if (performance.now() > deadlineMs) {
        throw new Error(`Waited in vain until ${name} ${what}: ${JSON.stringify(instance, null, 1)}\n${this.#logOf(name)}`);
      }
      await Bun.sleep(LOOK_MS);
    }
  }

  async seesSynchronized(name: string, streamCount = 1): Promise<void> {
    await this.sees(`has ${streamCount} synchronized streams`, name, (instance) => {
      const synchronized = instance?.streams.filter((stream) => stream.synchronized) ?? [];
      return synchronized.length === streamCount && instance?.streams.length === streamCount;
    });
  }

  async seesState(name: string, state: InstanceAnswer["state"]): Promise<void> {
    await this.sees(`is ${state}`, name, (instance) => instance?.state === state);
  }

  async seesGone(name: string): Promise<void> {
    await this.sees("is gone", name, (instance) => instance === null);
  }

  /** Resolves once Warmpath has seen everything that etcd took before. */
  async caughtUp(): Promise<void> {
    this.#fences += 1;
    const name = `fence.invalid:${this.#fences}`;
    await this.etcd.registrar.put("DECODE", name);
    await this.sees("is registered", name, (instance) => instance !== null);
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    await Promise.all(this.#engines.map((engine) => engine.stop()));
    this.#etcd?.registrar.close();
    await this.#etcd?.server.stop();
  }

  #logOf(name: string): string {
    return this.logLines
      .filter((line) => line.includes(name) || line.includes("etcd"))
      .slice(-LOG_LINES_SHOWN)
      .join("\n");
  }

  async #read<Body>(method: string, path: string, body?: object): Promise<Body> {
    const answer = await this.request(method, path, body);
    if (answer.status !== 200) throw new Error(`Cannot read ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Body;
  }
}

async function startService(options: FleetSiteOptions, logLines: string[]): Promise<Service> {
  const { flags = [], environment = {}, kvEventsFile = { discovery: DISCOVERY } } = options;
  const fileFlags = kvEventsFile === null ? [] : [`--kv-events-config-file=${await writeKvEventsFile(kvEventsFile)}`];
  const config = await loadConfig([...FLAGS, ...fileFlags, ...flags], environment);
  if (config === "help") throw new Error("Cannot start: help was not asked for");
  return Service.start(
    config,
    createLogger((line) => logLines.push(line)),
  );
}

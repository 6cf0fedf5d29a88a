/** A Warmpath in this process and a fleet that registers over HTTP, with played ranks on real sockets; everything is asked over HTTP. */

import { loadConfig } from "#config";
import type { Role } from "#domain";
import { Service } from "#service";
import type { InstanceAnswer } from "../../../src/http/instances/schema.ts";
import type { InstanceMatch } from "../../../src/http/query/schema.ts";
import type { DecisionAnswer } from "../../../src/http/route/schema.ts";
import { eventually } from "../../support/eventually.ts";
import { QUIET } from "../../support/quiet-logger.ts";
import { untilReady, writeKvEventsFile } from "../warmpath-process.ts";
import { BLOCK_SIZE, type Holding, type PlayedRank, playRank, promptTokens, TOPIC } from "./played-rank.ts";

/** Nobody answers there. */
const NOWHERE = "127.0.0.1:1";

const FLAGS = [
  "--http-server-port=0",
  "--instance-delete-probe-timeout-ms=200",
  "--instance-delete-probe-attempts=1",
  "--suspect-timeout-ms=60000",
  "--load-report-max-age-ms=60000",
  "--load-scrape-interval-ms=0",
];

/** Longer than any test: nothing but the test takes an instance away. */
const LEASE_SECONDS = 3600;

const SERVE_MS = 2;

interface Load {
  waiting?: number;
  /** Of the device's cache, 0 to 1. */
  usage?: number;
}

/** An instance. What is not said is plain: DEFAULT, idle, one rank that holds nothing. */
export interface Member {
  role?: Role;
  /** Null: it never reports. */
  load?: Load | null;
  /** What each rank holds; "silent": it does not answer and never comes into step. Empty: it has no event endpoints. */
  ranks?: readonly (Holding | "silent")[];
  blockSize?: number;
  incarnation?: string;
  /** Its lease is gone and its door does not answer. */
  isSuspect?: boolean;
  /** [prompt tokens, ms] and [average tokens, requests in the batch, ms], as SLO_AWARE needs them. */
  ttft?: readonly (readonly [number, number])[];
  tpot?: readonly (readonly [number, number, number])[];
}

/** What a registration says of a rank. */
type RankEndpoints = Pick<PlayedRank, "engine" | "endpoint" | "replayEndpoint">;

interface Answer<Body = unknown> {
  status: number;
  /** Parsed; null when there is none. */
  body: Body;
}

export class RouteSite {
  readonly #service: Service;
  readonly #ranks: PlayedRank[] = [];
  readonly #silent = new Set<PlayedRank>();
  readonly #serving: Timer;

  private constructor(service: Service) {
    this.#service = service;
    this.#serving = setInterval(() => {
      for (const rank of this.#ranks) if (!this.#silent.has(rank)) rank.serve();
    }, SERVE_MS);
  }

  /**
   * Resolves when Warmpath is ready. `kvEventsFile` null: nothing is discovered or listed, and every instance names its own
   * endpoints.
   */
  static async start(flags: readonly string[] = [], kvEventsFile: object | null = null): Promise<RouteSite> {
    const fileFlags = kvEventsFile === null ? [] : [`--kv-events-config-file=${await writeKvEventsFile(kvEventsFile)}`];
    const config = await loadConfig([...FLAGS, ...fileFlags, ...flags], {});
    if (config === "help") throw new Error("Cannot start: help was not asked for");
    const service = await Service.start(config, QUIET);
    await untilReady(service.port);
    return new RouteSite(service);
  }

  /** With these members, each of them joined before the next; those that are to be SUSPECT are. */
  static async of(members: Readonly<Record<string, Member>>, flags: readonly string[] = []): Promise<RouteSite> {
    const site = await RouteSite.start(flags);
    try {
      for (const [name, member] of Object.entries(members)) await site.join(name, member);
      for (const [name, { isSuspect = false }] of Object.entries(members)) {
        if (isSuspect) await site.sees("is SUSPECT", name, ({ state }) => state === "SUSPECT");
      }
      return site;
    } catch (error) {
      await site.stop();
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.#service.port}`;
  }

  async request<Body = unknown>(method: string, path: string, body?: object): Promise<Answer<Body>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  }

  /** A rank that answers until the site stops, or not before `unsilence` when it is silent. */
  play(holding: Holding | "silent", dpRank = 0, blockSize = BLOCK_SIZE): PlayedRank {
    const rank = playRank(holding === "silent" ? {} : holding, dpRank, blockSize);
    this.#ranks.push(rank);
    if (holding === "silent") this.#silent.add(rank);
    return rank;
  }

  unsilence(rank: PlayedRank): void {
    this.#silent.delete(rank);
  }

  /** Registers the instance and reports its load; resolves once Warmpath has heard all that its ranks hold. */
  async join(name: string, member: Member = {}): Promise<readonly PlayedRank[]> {
    const { ranks: holdings = member.role === "DECODE" ? [] : [{}], blockSize = BLOCK_SIZE } = member;
    const ranks = holdings.map((holding, dpRank) => this.play(holding, dpRank, blockSize));
    await this.register(name, member, ranks);
    await this.report(name, member);
    const isHeard = (dpRank: number) => holdings[dpRank] !== "silent";
    if (await this.#isListenedTo(name)) await this.hears(name, ranks, isHeard);
    return ranks;
  }

  async register(name: string, member: Member, ranks: readonly RankEndpoints[]): Promise<void> {
    const { role = "DEFAULT", blockSize = BLOCK_SIZE, incarnation, isSuspect = false, ttft = [], tpot = [] } = member;
    const replayEndpoints = ranks.map(({ replayEndpoint }) => replayEndpoint).filter((endpoint) => endpoint !== null);
    const { status, body } = await this.request("POST", "/v1/instances", {
      name,
      address: NOWHERE,
      role,
      engine: ranks.at(0)?.engine ?? "xllm",
      dp_size: Math.max(ranks.length, 1),
      block_size: blockSize,
      topic: TOPIC,
      lease_seconds: isSuspect ? 1 : LEASE_SECONDS,
      ttft_profiling_data: ttft,
      tpot_profiling_data: tpot,
      ...(incarnation !== undefined && { incarnation_id: incarnation }),
      ...(ranks.length > 0 && { event_endpoints: ranks.map(({ endpoint }) => endpoint) }),
      ...(replayEndpoints.length > 0 && { replay_endpoints: replayEndpoints }),
    });
    if (status >= 300) throw new Error(`Cannot register ${name}: ${status} ${JSON.stringify(body)}`);
  }

  async report(name: string, { load = {}, incarnation }: Member): Promise<void> {
    if (load === null) return;
    const { status, body } = await this.request("POST", "/v1/internal/heartbeat", {
      name,
      ...(incarnation !== undefined && { incarnation_id: incarnation }),
      load_metrics: { waiting_requests_num: load.waiting ?? 0, gpu_cache_usage_perc: load.usage ?? 0 },
    });
    if (status !== 200) throw new Error(`Cannot report the load of ${name}: ${status} ${JSON.stringify(body)}`);
  }

  /** Resolves once every rank has a stream, and each that `isHeard` says is in step and holds what it should. */
  async hears(name: string, ranks: readonly PlayedRank[], isHeard: (dpRank: number) => boolean = () => true): Promise<void> {
    await eventually(`${name} is heard`, async () => {
      const question = { token_ids: [], instance_names: [name] };
      const { body } = await this.request<{ matches: InstanceMatch[] }>("POST", "/v1/internal/kv-cache/query", question);
      const isTrue = ({ dp_rank, synchronized, device_blocks }: InstanceMatch) =>
        !isHeard(dp_rank) || (synchronized && device_blocks === ranks[dp_rank].deviceBlocks);
      return body.matches?.length === ranks.length && body.matches.every(isTrue);
    });
  }

  async instance(name: string): Promise<InstanceAnswer> {
    return (await this.request<InstanceAnswer>("GET", `/v1/instances/${name}`)).body;
  }

  async sees(what: string, name: string, look: (instance: InstanceAnswer) => boolean): Promise<void> {
    await eventually(`${name} ${what}`, async () => look(await this.instance(name)));
  }

  /** Where a request for the prompt goes; `fields` are added to the body. */
  async route(fields: object = {}): Promise<DecisionAnswer> {
    const { status, body } = await this.request("POST", "/v1/route", { token_ids: promptTokens(), ...fields });
    if (status !== 200) throw new Error(`Cannot route: ${status} ${JSON.stringify(body)}`);
    return body as DecisionAnswer;
  }

  async stop(): Promise<void> {
    clearInterval(this.#serving);
    await this.#service.stop();
    for (const rank of this.#ranks) rank.close();
  }

  /** A DECODE instance never is, nor a MIX that works as one. */
  async #isListenedTo(name: string): Promise<boolean> {
    return (await this.instance(name)).current_role !== "DECODE";
  }
}

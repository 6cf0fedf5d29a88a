/**
 * A whole fleet: etcd, engines that are registered there, the Warmpath that follows them, and an observer that asks it all the
 * time and has every answer judged.
 */

import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "#base";
import { loadConfig } from "#config";
import type { Engine } from "#domain";
import { Service } from "#service";
import { EtcdServer } from "../../support/etcd-server.ts";
import { freePortRuns } from "../../support/free-ports.ts";
import { BLOCK_SIZE, type Block } from "../blocks.ts";
import { ObservedStream } from "../observed-stream.ts";
import { query } from "../query.ts";
import { TRAFFIC_PROMPTS } from "../random-changes.ts";
import { Turns } from "../turns.ts";
import { EVENT_PORT_OFFSET, FleetMember, MEMBER_PORTS, REPLAY_PORT_OFFSET, TOPIC } from "./fleet-member.ts";

const PROMPTS = TRAFFIC_PROMPTS;

/** Between two questions. */
const OBSERVE_MS = 5;

/** Far more than there are in the time that a report is about. */
const LINES_MAX = 10_000;
const VIOLATIONS_MAX = 20;

/** What a report tells of the time before what it is about, and after. */
const REPORT_BEFORE_MS = 6000;
const REPORT_AFTER_MS = 500;

/** Short beside the lives of processes, so that every state of an instance is come to. */
const SETTINGS = {
  "--http-server-port": "0",
  "--instance-delete-probe-timeout-ms": "300",
  "--lease-lost-heartbeat-timeout-ms": "1500",
  "--suspect-timeout-ms": "1500",
};

export interface MemberPlan {
  engine: Engine;
  ranks: number;
}

export class FleetSite {
  readonly members: readonly FleetMember[];
  readonly violations: string[] = [];
  readonly #etcd: EtcdServer;
  /** What happened to members, and what Warmpath logged. */
  readonly #lines: { atMs: number; line: string }[] = [];
  /** Null as long as there is none. */
  #firstViolationAtMs: number | null = null;
  /** By instance and rank: who else wants to see the answers. */
  readonly #watched = new Map<string, ObservedStream>();
  #service: Service | null = null;
  #observer: Promise<void> | null = null;
  readonly #turns = new Turns();
  #answers = 0;
  /** Infinity while Warmpath does not. */
  #etcdFollowedSinceMs = Number.POSITIVE_INFINITY;
  #isStopping = false;

  private constructor(etcd: EtcdServer, python: string, plan: readonly MemberPlan[]) {
    this.#etcd = etcd;
    const ports = freePortRuns(plan.length, MEMBER_PORTS);
    const tell = (line: string) => this.#tell(line);
    this.members = plan.map((one, n) => new FleetMember({ ...one, python, etcdEndpoint: etcd.endpoint, port: ports[n], tell }));
  }

  /** Every member listens and is registered, and Warmpath runs. */
  static async start(python: string, etcdBinary: string, plan: readonly MemberPlan[]): Promise<FleetSite> {
    const site = new FleetSite(await EtcdServer.start(etcdBinary), python, plan);
    await Promise.all(site.members.map((member) => member.start().then(() => member.register("another"))));
    site.#service = await site.#startService();
    site.#observer = site.#observe();
    return site;
  }

  /** Answers about single ranks that were judged. */
  get answers(): number {
    return this.#answers;
  }

  /** etcd is killed, and comes back after a while with what it knew. */
  async etcdOutage(durationMs: number): Promise<void> {
    await this.#etcd.kill();
    await Bun.sleep(durationMs);
    await this.#etcd.restart();
  }

  /** The stream of a member's rank, from its process at hand on. */
  watch(member: FleetMember, rank: number): ObservedStream {
    const stream = new ObservedStream(member.peers[rank], () => this.#askAll());
    this.#watched.set(rankKey(member.name, rank), stream);
    return stream;
  }

  /** What led to the first violation; without one, the latest that happened. */
  report(): string {
    const aboutMs = this.#firstViolationAtMs ?? performance.now();
    return this.#lines
      .filter(({ atMs }) => atMs >= aboutMs - REPORT_BEFORE_MS && atMs <= aboutMs + REPORT_AFTER_MS)
      .map(({ atMs, line }) => `${atMs.toFixed(0)} ${line}`)
      .join("\n");
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#observer;
    await this.#service?.stop();
    await Promise.all(this.members.map((member) => member.stop()));
    await this.#etcd.stop();
  }

  async #startService(): Promise<Service> {
    const discovery = {
      enabled: true,
      block_size: BLOCK_SIZE,
      topic: TOPIC,
      event_port_offset: EVENT_PORT_OFFSET,
      replay_port_offset: REPLAY_PORT_OFFSET,
    };
    const path = join(tmpdir(), `warmpath-fleet-${crypto.randomUUID()}.json`);
    await Bun.write(path, JSON.stringify({ resync_interval_ms: 1500, discovery }));
    const flags = { ...SETTINGS, "--etcd-addr": this.#etcd.endpoint, "--kv-events-config-file": path };
    try {
      const config = await loadConfig(Object.entries(flags).flat(), {});
      if (config === "help") throw new Error("Cannot start: help was not asked for");
      return await Service.start(
        config,
        createLogger((line) => this.#hear(line)),
      );
    } finally {
      await rm(path);
    }
  }

  #hear(line: string): void {
    if (line.includes("Connected to etcd")) this.#etcdFollowedSinceMs = performance.now();
    if (line.includes("Lost etcd")) this.#etcdFollowedSinceMs = Number.POSITIVE_INFINITY;
    this.#tell(line);
  }

  #tell(line: string): void {
    if (this.#lines.push({ atMs: performance.now(), line }) > LINES_MAX) this.#lines.shift();
  }

  async #observe(): Promise<void> {
    for (let turn = 0; !this.#isStopping; turn++) {
      await this.#turns.take(() => this.#ask(PROMPTS[turn % PROMPTS.length]));
      await Bun.sleep(OBSERVE_MS);
    }
  }

  #askAll(): Promise<void> {
    return this.#turns.take(async () => {
      for (const prompt of PROMPTS) await this.#ask(prompt);
    });
  }

  async #ask(prompt: readonly Block[]): Promise<void> {
    if (this.#service === null) return;
    const before = { fromMs: performance.now(), etcdFollowedSinceMs: this.#etcdFollowedSinceMs };
    const matches = (await query(this.#service.port, prompt)) ?? [];
    const asked = { ...before, toMs: performance.now() };
    for (const match of matches) {
      const { instance_name, dp_rank } = match;
      this.#answers += 1;
      const history = this.members.find(({ name }) => name === instance_name)?.histories.at(dp_rank);
      const problem = history === undefined ? "no such rank" : history.judge(match, prompt, asked);
      if (problem !== null) this.#violate(asked.toMs, `${problem}: ${JSON.stringify(match)}`);
      this.#watched.get(rankKey(instance_name, dp_rank))?.observe(match, prompt);
    }
  }

  #violate(atMs: number, problem: string): void {
    this.#firstViolationAtMs ??= atMs;
    if (this.violations.length < VIOLATIONS_MAX) this.violations.push(`${atMs.toFixed(0)} ${problem}`);
  }
}

function rankKey(instanceName: string, rank: number): string {
  return `${JSON.stringify(instanceName)} rank ${rank}`;
}

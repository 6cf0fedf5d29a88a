/** A Warmpath process with simulated engines that register, live and leave as a test wants. */

import { SimulatedEngine } from "#sim";
import { startWarmpath, untilReady, type WarmpathProcess } from "../end-to-end/warmpath-process.ts";

const CACHE = { blockSize: 16, deviceBlocksMax: 64, hostBlocksMax: 64, chainSeed: 1n, offloadForm: "with-tokens" } as const;

const HEARTBEAT_MS = 200;

interface Member {
  engine: SimulatedEngine;
  incarnation: number;
  isThere: boolean;
}

export class WatchedFleet {
  readonly url: string;
  readonly #warmpath: WarmpathProcess;
  readonly #headers: Record<string, string>;
  readonly #members = new Map<string, Member>();
  readonly #serving: Timer;
  readonly #heartbeats: Timer;

  private constructor(warmpath: WarmpathProcess, port: number, token: string) {
    this.#warmpath = warmpath;
    this.url = `http://127.0.0.1:${port}/`;
    this.#headers = token === "" ? {} : { "x-internal-token": token };
    this.#serving = setInterval(() => this.#serve(), 5);
    this.#heartbeats = setInterval(() => this.#sendHeartbeats(), HEARTBEAT_MS);
  }

  /** Starts Warmpath, with an internal token unless it is "". */
  static async start(token = ""): Promise<WatchedFleet> {
    const flags = ["--suspect-timeout-ms", "1000", "--lease-lost-heartbeat-timeout-ms", "500"];
    const warmpath = startWarmpath(token === "" ? flags : [...flags, "--internal-api-token", token]);
    const port = await warmpath.port;
    await untilReady(port);
    return new WatchedFleet(warmpath, port, token);
  }

  /** An engine that holds these prompts, registered under `name`. */
  async add(name: string, prompts: readonly Uint32Array[]): Promise<void> {
    const engine = new SimulatedEngine({ name, cache: CACHE });
    engine.step(prompts);
    const member = { engine, incarnation: 1, isThere: true };
    this.#members.set(name, member);
    await this.#register(member);
  }

  /** The engine's process ends. */
  kill(name: string): void {
    const member = this.#member(name);
    member.isThere = false;
    member.engine.close();
  }

  /** Another process takes its place, with an empty cache. */
  async bringBack(name: string): Promise<void> {
    const member = this.#member(name);
    member.engine.restart();
    member.incarnation += 1;
    member.isThere = true;
    await this.#register(member);
  }

  async post(path: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method: "POST",
      headers: { ...this.#headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Cannot ask Warmpath: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async stop(): Promise<void> {
    clearInterval(this.#serving);
    clearInterval(this.#heartbeats);
    this.#warmpath.signal("SIGTERM");
    await this.#warmpath.exitCode;
    for (const { engine } of this.#members.values()) engine.close();
  }

  #member(name: string): Member {
    const member = this.#members.get(name);
    if (member === undefined) throw new Error(`Cannot find engine ${JSON.stringify(name)}`);
    return member;
  }

  async #register({ engine: { name, stream }, incarnation }: Member): Promise<void> {
    await this.post("v1/instances", {
      name,
      // Nobody answers probes there.
      address: "127.0.0.1:9",
      engine: stream.engine,
      incarnation_id: String(incarnation),
      block_size: stream.blockSize,
      topic: stream.topic,
      event_endpoints: [stream.endpoint],
      replay_endpoints: [stream.replayEndpoint],
      lease_seconds: 1,
    });
    await this.#sendHeartbeat(name, incarnation);
  }

  #serve(): void {
    for (const { engine, isThere } of this.#members.values()) if (isThere) engine.serve();
  }

  async #sendHeartbeats(): Promise<void> {
    for (const member of this.#members.values()) {
      // A heartbeat may meet a registration that has just ended; the next one does not.
      if (member.isThere) await this.#register(member).catch(() => {});
    }
  }

  async #sendHeartbeat(name: string, incarnation: number): Promise<void> {
    await this.post("v1/internal/heartbeat", {
      name,
      incarnation_id: String(incarnation),
      load_metrics: { waiting_requests_num: 2, gpu_cache_usage_perc: 0.25 },
    });
  }
}

/** `count` tokens that begin with `first`. */
export function tokensFrom(first: number, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, position) => first + position);
}

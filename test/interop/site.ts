/**
 * Peers, a Warmpath that listens to all of them, and an observer that asks it all the time and shows every answer to the stream
 * that it is about.
 */

import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "#base";
import { loadConfig } from "#config";
import { Service } from "#service";
import { freePorts } from "../support/free-ports.ts";
import { BLOCK_SIZE, type Block } from "./blocks.ts";
import { ObservedStream } from "./observed-stream.ts";
import { PeerEngine, type PeerOptions, TOPICS } from "./peer-engine.ts";
import { query } from "./query.ts";
import { Turns } from "./turns.ts";

/** Between two questions. */
const OBSERVE_MS = 10;

/** Log lines kept for the report of a failure. */
const LOG_LINES_MAX = 2000;

export interface SiteOptions {
  /** Fields of the KV events file, but its streams. */
  fields?: Record<string, number>;
  /** What the observer asks for, in turn. */
  prompts: readonly (readonly Block[])[];
}

export interface PlannedStream {
  instanceName: string;
  peer: PeerOptions;
  /** What the peer does before Warmpath starts. */
  prepare?: ((peer: PeerEngine) => Promise<void>) | undefined;
}

export class InteropSite {
  readonly #options: SiteOptions;
  readonly #streams = new Map<string, ObservedStream>();
  readonly #logLines: string[] = [];
  #service: Service | null = null;
  #observer: Promise<void> | null = null;
  readonly #turns = new Turns();
  /** All prompts, to be asked for when their turn comes; whoever wants that until then shares it. */
  #round: Promise<void> | null = null;
  #isStopping = false;

  constructor(options: SiteOptions) {
    this.#options = options;
  }

  /** Starts the peers, then Warmpath. */
  async start(python: string, plan: readonly PlannedStream[]): Promise<void> {
    const ports = freePorts(2 * plan.length);
    const streams = await Promise.all(
      plan.map(async ({ instanceName, peer: options, prepare }, index) => {
        const [events, replay] = ports.slice(2 * index);
        const peer = await PeerEngine.start(python, { events, replay }, options);
        const { engine = "xllm", rank = 0, hasReplay = true } = options;
        this.#streams.set(streamKey(instanceName, rank), new ObservedStream(peer, () => this.#askAll()));
        await prepare?.(peer);
        return {
          instance_name: instanceName,
          dp_rank: rank,
          engine,
          block_size: BLOCK_SIZE,
          endpoint: `tcp://127.0.0.1:${events}`,
          replay_endpoint: hasReplay ? `tcp://127.0.0.1:${replay}` : null,
          topic: TOPICS[engine],
        };
      }),
    );
    this.#service = await this.#startService({ ...this.#options.fields, streams });
    this.#observer = this.#observe();
  }

  stream(instanceName: string, rank = 0): ObservedStream {
    const stream = this.#streams.get(streamKey(instanceName, rank));
    if (stream === undefined) throw new Error(`Cannot find the stream: ${streamKey(instanceName, rank)} was not planned`);
    return stream;
  }

  /** What Warmpath has logged about an instance. */
  logOf(instanceName: string): string {
    return this.#logLines.filter((line) => line.includes(`instance=${instanceName} `)).join("\n");
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#observer;
    await this.#service?.stop();
    await Promise.all([...this.#streams.values()].map(({ peer }) => peer.stop()));
  }

  async #startService(file: object): Promise<Service> {
    const path = join(tmpdir(), `warmpath-interop-${crypto.randomUUID()}.json`);
    await Bun.write(path, JSON.stringify(file));
    try {
      const config = await loadConfig(["--http-server-port", "0", "--kv-events-config-file", path], {});
      if (config === "help") throw new Error("Cannot start: help was not asked for");
      const write = (line: string) => {
        if (this.#logLines.push(line) > LOG_LINES_MAX) this.#logLines.shift();
      };
      return await Service.start(config, createLogger(write));
    } finally {
      await rm(path);
    }
  }

  async #observe(): Promise<void> {
    for (let turn = 0; !this.#isStopping; turn++) {
      await this.#turns.take(() => this.#ask(this.#options.prompts[turn % this.#options.prompts.length]));
      await Bun.sleep(OBSERVE_MS);
    }
  }

  #askAll(): Promise<void> {
    this.#round ??= this.#turns.take(async () => {
      this.#round = null;
      for (const prompt of this.#options.prompts) await this.#ask(prompt);
    });
    return this.#round;
  }

  async #ask(prompt: readonly Block[]): Promise<void> {
    if (this.#service === null) return;
    const matches = (await query(this.#service.port, prompt)) ?? [];
    for (const match of matches) this.stream(match.instance_name, match.dp_rank).observe(match, prompt);
  }
}

function streamKey(instanceName: string, rank: number): string {
  return `${JSON.stringify(instanceName)} rank ${rank}`;
}

/**
 * One simulated xLLM engine rank: admits prompts to its cache, publishes what changed as live batches numbered from 1, and
 * answers snapshot requests with its whole state after the last batch. Nothing happens but in the calls made to it.
 */

import { assert } from "#base";
import { HASH_SEED_DEFAULT, type StreamDescription } from "#domain";
import type { CurveKeyPair } from "#wire";
import type { EngineEvent } from "./engine-event.ts";
import { type EngineEndpoints, EngineSockets } from "./engine-sockets.ts";
import { PrefixCache, type PrefixCacheOptions } from "./prefix-cache.ts";
import { encodeBatch } from "./xllm-codec.ts";

export interface SimulatedEngineOptions {
  /** Instance name, `host:port` of the HTTP address that a real engine would have; nothing listens there. */
  name: string;
  cache: PrefixCacheOptions;
  dpRank?: number;
  topic?: string;
  /** Address to bind; 127.0.0.1 unless it is said. */
  host?: string;
  /** Ports to bind; 0, the default, lets the system choose. */
  eventPort?: number;
  replayPort?: number;
  /** Keys of both sockets; null, the default: in the clear. */
  curveKeys?: CurveKeyPair | null;
}

/**
 * What goes wrong: `lose-next-batch` keeps the next batch from its subscribers, once; `silent` keeps all batches from them and
 * leaves requests waiting until the fault is lifted. The cache and the batch sequence move on in either case.
 */
export type EngineFault = "none" | "lose-next-batch" | "silent";

/** What tests may ask of an engine's cache without changing it. */
export type CacheView = Pick<PrefixCache, "holds" | "snapshot" | "deviceBlocks" | "hostBlocks">;

export interface StepReport {
  /** The batch that was published, or null when the step changed nothing. */
  batchSeq: number | null;
  /** Tokens of the prompts that the cache held before. */
  cachedTokens: number;
}

/** Snapshots sent by one call of `serve`: more wait for the next, so that a call takes bounded time. */
const ANSWERS_PER_SERVE = 16;

export class SimulatedEngine {
  readonly name: string;
  readonly dpRank: number;
  readonly topic: string;
  fault: EngineFault = "none";
  readonly #cacheOptions: PrefixCacheOptions;
  readonly #endpoints: Readonly<EngineEndpoints>;
  readonly #curveKeys: CurveKeyPair | null;
  #cache: PrefixCache;
  /** Null while closed. */
  #sockets: EngineSockets | null;
  #batchSeq = 0;
  #restarts = 0n;
  #malformedRequests = 0;

  /** Binds the engine's sockets. Throws ZmqError when a port is taken, LibzmqNotFoundError without libzmq. */
  constructor(options: SimulatedEngineOptions) {
    const { name, cache, dpRank = 0, topic = "xllm-kv", curveKeys = null } = options;
    const { host = "127.0.0.1", eventPort = 0, replayPort = 0 } = options;
    this.name = name;
    this.dpRank = dpRank;
    this.topic = topic;
    this.#cacheOptions = cache;
    this.#cache = new PrefixCache(cache);
    this.#curveKeys = curveKeys;
    this.#sockets = this.#bind({ event: `tcp://${host}:${eventPort}`, replay: `tcp://${host}:${replayPort}` });
    this.#endpoints = this.#sockets.endpoints;
  }

  get cache(): CacheView {
    return this.#cache;
  }

  /** The last batch's number, published or lost; 0 before the first. */
  get batchSeq(): number {
    return this.#batchSeq;
  }

  /** Requests that were not `"" | 8 bytes` and got no answer. */
  get malformedRequests(): number {
    return this.#malformedRequests;
  }

  /** How a subscriber on this machine is to be configured for this engine; where the host is a wildcard, with another host. */
  get stream(): StreamDescription & { replayEndpoint: string } {
    return {
      instanceName: this.name,
      dpRank: this.dpRank,
      engine: "xllm",
      blockSize: this.#cacheOptions.blockSize,
      hashSeed: HASH_SEED_DEFAULT,
      endpoint: this.#endpoints.event,
      replayEndpoint: this.#endpoints.replay,
      topic: this.topic,
      curveServerKey: this.#curveKeys?.publicKey ?? null,
      incarnation: "",
    };
  }

  /** One scheduler step: admits the prompts and publishes one batch if that changed anything. */
  step(prompts: readonly Uint32Array[]): StepReport {
    const admissions = prompts.map((prompt) => this.#cache.admit(prompt));
    const batchSeq = this.#publish(admissions.flatMap((admission) => admission.events));
    return { batchSeq, cachedTokens: admissions.reduce((sum, admission) => sum + admission.cachedTokens, 0) };
  }

  /** Drops the prompt's last full block from all tiers; its descendants stay. The batch's number, or null when it was not held. */
  invalidate(prompt: Uint32Array): number | null {
    return this.#publish(this.#cache.invalidate(prompt));
  }

  /** Drops the whole cache; the batch's number. */
  clear(): number | null {
    return this.#publish(this.#cache.clear());
  }

  /** Publishes a live batch that clears everything and then stores the whole state; the batch's number. */
  publishFullState(): number | null {
    return this.#publish([{ kind: "cleared" }, ...this.#cache.snapshot()]);
  }

  /** Answers snapshot requests that wait, a bounded number of them; returns how many were answered. */
  serve(): number {
    if (this.fault === "silent") return 0;
    const sockets = this.#openSockets();
    let payload: Uint8Array | null = null;
    let answered = 0;
    for (let taken = 0; taken < ANSWERS_PER_SERVE; taken++) {
      const request = sockets.takeRequest();
      if (request === null) break;
      if (request.kind === "malformed") {
        this.#malformedRequests += 1;
        continue;
      }
      payload ??= this.#encode(this.#cache.snapshot());
      sockets.answer(request.client, this.#batchSeq, payload);
      answered += 1;
    }
    return answered;
  }

  /** Becomes a new process on the same ports, also after `close`: empty cache, other hashes, batches from 1 again, no fault. */
  restart(): void {
    this.close();
    this.#restarts += 1n;
    this.#cache = new PrefixCache({
      ...this.#cacheOptions,
      // The high word counts restarts: engines whose seeds are neighbours do not take over each other's hashes.
      chainSeed: BigInt.asUintN(64, this.#cacheOptions.chainSeed + (this.#restarts << 32n)),
    });
    this.#batchSeq = 0;
    this.fault = "none";
    this.#sockets = this.#bind(this.#endpoints);
  }

  /** Disconnects everyone and frees the ports. Closing twice is harmless. */
  close(): void {
    this.#sockets?.close();
    this.#sockets = null;
  }

  #bind(endpoints: Readonly<EngineEndpoints>): EngineSockets {
    const curve = this.#curveKeys === null ? null : { role: "server" as const, secretKey: this.#curveKeys.secretKey };
    return new EngineSockets(endpoints, this.topic, curve);
  }

  #publish(events: EngineEvent[]): number | null {
    const sockets = this.#openSockets();
    if (events.length === 0) return null;
    this.#batchSeq += 1;
    switch (this.fault) {
      case "none":
        sockets.publish(this.#batchSeq, this.#encode(events));
        break;
      case "lose-next-batch":
        this.fault = "none";
        break;
      case "silent":
        break;
    }
    return this.#batchSeq;
  }

  #encode(events: EngineEvent[]): Uint8Array {
    return encodeBatch(events, this.dpRank, Date.now() / 1000);
  }

  #openSockets(): EngineSockets {
    assert(this.#sockets !== null, `engine ${JSON.stringify(this.name)} is used before it is closed`);
    return this.#sockets;
  }
}

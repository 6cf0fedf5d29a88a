/**
 * An engine that has no rest: it is killed, leaves, comes back as another process with other ranks in another role, falls silent,
 * loses batches, moves to other ports, and lets its registration lapse while it lives.
 */

import type { Etcd3 } from "etcd3";
import { ROLES } from "#domain";
import type { SeededRandom } from "#sim";
import { freePortRuns } from "../support/free-ports.ts";
import {
  EVENT_PORT_OFFSET,
  openRank,
  PORTS_PER_ENGINE,
  RANK_TROUBLES,
  RANKS_MAX,
  type Rank,
  REPLAY_PORT_OFFSET,
} from "./ranks.ts";
import { type EngineIdentity, EtcdRegistry, HttpRegistry, type Registry, sendHeartbeat } from "./registration.ts";
import type { Tally } from "./tally.ts";

export interface EngineSurroundings {
  url: string;
  /** Null: there is no etcd. */
  etcd: Etcd3 | null;
  random: SeededRandom;
  tally: Tally;
}

/** One in so many. */
const ETCD_SHARE = 3;
const VLLM_SHARE = 3;
const MOVE_SHARE = 3;
const SCRAPED_SHARE = 2;
const LEASED_SHARE = 2;

interface Life {
  identity: EngineIdentity;
  registry: Registry;
  ranks: Rank[];
  door: Bun.Server<undefined>;
  /** Without heartbeats its load is read from its door. */
  sendsHeartbeats: boolean;
  /** Nothing is told of it for now. */
  isMute: boolean;
}

export class RestlessEngine {
  readonly #surroundings: EngineSurroundings;
  #port: number;
  /** Null while it is dead. */
  #life: Life | null = null;

  constructor(surroundings: EngineSurroundings) {
    this.#surroundings = surroundings;
    this.#port = freePlace();
    this.#begin();
  }

  /** Computes a prompt on one of its ranks. */
  step(prompt: Uint32Array): void {
    const ranks = this.#life?.ranks ?? [];
    if (ranks.length > 0) ranks[this.#chance(ranks.length)].step(prompt);
  }

  serve(): void {
    for (const rank of this.#life?.ranks ?? []) rank.serve();
  }

  /** Registers, or renews that, and says how busy it is. */
  async tell(): Promise<void> {
    const life = this.#life;
    if (life === null || life.isMute) return;
    await life.registry.register(life.identity);
    if (this.#life !== life || !life.sendsHeartbeats) return;
    await sendHeartbeat(this.#surroundings.url, life.identity, this.#load(), this.#surroundings.tally);
  }

  /** Something happens to it. */
  async suffer(): Promise<void> {
    const life = this.#life;
    if (life === null) {
      this.#note("born");
      if (this.#chance(MOVE_SHARE) === 0) this.#port = freePlace();
      this.#begin();
      return;
    }
    switch (this.#chance(6)) {
      case 0:
        this.#note("killed");
        this.#end();
        break;
      case 1:
        this.#note("left");
        await this.leave();
        break;
      case 2:
        this.#note("replaced at once");
        this.#end();
        this.#begin();
        break;
      case 3:
        this.#note(life.isMute ? "speaks again" : "falls mute");
        life.isMute = !life.isMute;
        if (life.isMute) life.registry.abandon();
        break;
      default:
        this.#troubleRank(life.ranks);
        break;
    }
  }

  /** Takes itself out of the registry and ends. */
  async leave(): Promise<void> {
    const life = this.#life;
    if (life === null) return;
    this.#close(life);
    await life.registry.withdraw(life.identity);
  }

  #troubleRank(ranks: Rank[]): void {
    const rank = ranks[this.#chance(ranks.length)];
    if (this.#chance(2) === 0) {
      for (const each of ranks) each.recover();
      return;
    }
    const trouble = RANK_TROUBLES[this.#chance(RANK_TROUBLES.length)];
    this.#note(trouble);
    rank.trouble(trouble);
  }

  /** Starts it as another process on its ports; where others have taken them it stays dead, and moves. */
  #begin(): void {
    const { url, etcd, random, tally } = this.#surroundings;
    const isInEtcd = etcd !== null && this.#chance(ETCD_SHARE) === 0;
    const engine = !isInEtcd && this.#chance(VLLM_SHARE) === 0 ? "vllm" : "xllm";
    const sendsHeartbeats = engine === "xllm" || this.#chance(SCRAPED_SHARE) === 0;
    const hasLease = !sendsHeartbeats || this.#chance(LEASED_SHARE) === 0;
    const rankCount = random.integerBetween(1, RANKS_MAX);
    const ranks: Rank[] = [];
    try {
      for (let dpRank = 0; dpRank < rankCount; dpRank++) {
        const [eventPort, replayPort] = [this.#port + EVENT_PORT_OFFSET + dpRank, this.#port + REPLAY_PORT_OFFSET + dpRank];
        ranks.push(openRank({ engine, dpRank, eventPort, replayPort, random }));
      }
      this.#life = {
        identity: {
          name: `127.0.0.1:${this.#port}`,
          engine,
          role: ROLES[this.#chance(ROLES.length)],
          incarnation: String(random.nextUint32()),
          eventEndpoints: ranks.map((_, dpRank) => `tcp://127.0.0.1:${this.#port + EVENT_PORT_OFFSET + dpRank}`),
          replayEndpoints: ranks.map((_, dpRank) => `tcp://127.0.0.1:${this.#port + REPLAY_PORT_OFFSET + dpRank}`),
        },
        registry: isInEtcd ? new EtcdRegistry(etcd) : new HttpRegistry(url, tally, hasLease),
        ranks,
        door: openDoor(this.#port),
        sendsHeartbeats,
        isMute: false,
      };
    } catch {
      for (const rank of ranks) rank.close();
      this.#note("found its ports taken");
      this.#port = freePlace();
    }
  }

  /** As a killed process does, without a word. */
  #end(): void {
    const life = this.#life;
    if (life === null) return;
    life.registry.abandon();
    this.#close(life);
  }

  #close(life: Life): void {
    this.#life = null;
    for (const rank of life.ranks) rank.close();
    life.door.stop(true);
  }

  #load(): object {
    const { random } = this.#surroundings;
    return { waiting_requests_num: random.integerBelow(8), gpu_cache_usage_perc: random.integerBelow(100) / 100 };
  }

  #chance(bound: number): number {
    return this.#surroundings.random.integerBelow(bound);
  }

  #note(event: string): void {
    this.#surroundings.tally.happened(`engine: ${event}`);
  }
}

/**
 * The first of an engine's ports. All engines begin at multiples of their number, so that no two share some: what a process says of
 * itself would contradict what another one said that is dead.
 */
function freePlace(): number {
  const [first] = freePortRuns(1, 2 * PORTS_PER_ENGINE - 1);
  return Math.ceil(first / PORTS_PER_ENGINE) * PORTS_PER_ENGINE;
}

/** Answers probes, and scrapes with what vLLM says of its load. */
function openDoor(port: number): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port,
    fetch: (request) => (request.url.endsWith("/metrics") ? new Response(ENGINE_METRICS) : new Response("alive")),
  });
}

const ENGINE_METRICS = `# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{model_name="soaked"} 2.0
# TYPE vllm:gpu_cache_usage_perc gauge
vllm:gpu_cache_usage_perc{model_name="soaked"} 0.5
`;

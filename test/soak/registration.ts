/** How an engine that comes and goes tells Warmpath of itself: over HTTP or in etcd, with heartbeats in either case. */

import type { Etcd3, Lease } from "etcd3";
import type { Role } from "#domain";
import { BLOCK_SIZE, TOPIC } from "./ranks.ts";
import type { Tally } from "./tally.ts";

const ANSWER_TIMEOUT_MS = 5000;
const LEASE_SECONDS = 2;

const ROLE_NUMBERS: Record<Role, number> = { DEFAULT: 0, PREFILL: 1, DECODE: 2, MIX: 3 };

export interface EngineIdentity {
  name: string;
  engine: "xllm" | "vllm";
  role: Role;
  incarnation: string;
  /** One of each for each rank. */
  eventEndpoints: string[];
  replayEndpoints: string[];
}

export interface Registry {
  register(identity: EngineIdentity): Promise<void>;
  withdraw(identity: EngineIdentity): Promise<void>;
  /** Lets the registration lapse. */
  abandon(): void;
}

export class HttpRegistry implements Registry {
  readonly #url: string;
  readonly #tally: Tally;
  readonly #leaseSeconds: number | null;

  /** With a lease of its own, or with its heartbeats as lease. */
  constructor(url: string, tally: Tally, hasLease: boolean) {
    this.#url = url;
    this.#tally = tally;
    this.#leaseSeconds = hasLease ? LEASE_SECONDS : null;
  }

  async register({ name, engine, role, incarnation, eventEndpoints, replayEndpoints }: EngineIdentity): Promise<void> {
    const body = {
      name,
      engine,
      role,
      incarnation_id: incarnation,
      dp_size: eventEndpoints.length,
      block_size: BLOCK_SIZE,
      topic: TOPIC,
      event_endpoints: eventEndpoints,
      replay_endpoints: replayEndpoints,
      ...(this.#leaseSeconds !== null && { lease_seconds: this.#leaseSeconds }),
      ttft_profiling_data: [
        [100, 10],
        [1000, 60],
        [4000, 300],
      ],
      tpot_profiling_data: [
        [100, 1, 5],
        [1000, 8, 9],
        [4000, 32, 20],
      ],
    };
    await postJson(this.#url, "/v1/instances", body, "register", [200, 201, 409], this.#tally);
  }

  async withdraw({ name, incarnation }: EngineIdentity): Promise<void> {
    const path = `/v1/instances/${encodeURIComponent(name)}?incarnation_id=${incarnation}`;
    await ask(this.#url, path, { method: "DELETE" }, "deregister", [204, 404, 409], this.#tally);
  }

  abandon(): void {}
}

export class EtcdRegistry implements Registry {
  readonly #client: Etcd3;
  #lease: Lease | null = null;

  constructor(client: Etcd3) {
    this.#client = client;
  }

  /** Waits for nothing longer than etcd does: while it is away the next call tries again. */
  async register({ name, role, incarnation, eventEndpoints }: EngineIdentity): Promise<void> {
    if (this.#lease !== null) return;
    const lease = this.#client.lease(LEASE_SECONDS);
    this.#lease = lease;
    lease.on("lost", () => {
      if (this.#lease === lease) this.#lease = null;
    });
    const value = {
      name,
      rpc_address: name,
      type: ROLE_NUMBERS[role],
      incarnation_id: incarnation,
      dp_size: eventEndpoints.length,
    };
    try {
      await lease.put(keyOf(role, name)).value(JSON.stringify(value));
    } catch {
      lease.release();
      if (this.#lease === lease) this.#lease = null;
    }
  }

  async withdraw(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    await lease?.revoke().catch(() => {}); // etcd is away: the lease ends by itself
  }

  abandon(): void {
    this.#lease?.release();
    this.#lease = null;
  }
}

export async function sendHeartbeat(
  url: string,
  { name, incarnation }: EngineIdentity,
  load: object,
  tally: Tally,
): Promise<void> {
  const body = {
    name,
    incarnation_id: incarnation,
    load_metrics: load,
    latency_metrics: { recent_max_ttft: 120, recent_max_tbt: 25 },
  };
  await postJson(url, "/v1/internal/heartbeat", body, "heartbeat", [200, 409], tally);
}

function postJson(
  url: string,
  path: string,
  body: object,
  what: string,
  allowed: readonly number[],
  tally: Tally,
): Promise<void> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return ask(url, path, init, what, allowed, tally);
}

async function ask(
  url: string,
  path: string,
  init: RequestInit,
  what: string,
  allowed: readonly number[],
  tally: Tally,
): Promise<void> {
  try {
    const answer = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    tally.answered(what, answer.status, allowed, await answer.text());
  } catch (error) {
    tally.violated(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function keyOf(role: Role, name: string): string {
  return `XLLM:${role}:${name}`;
}

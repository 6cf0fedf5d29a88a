/** Registers engines in etcd as xLLM does: JSON under a key of the role, with a lease that the test keeps alive or lets go. */

import { Etcd3, type Lease } from "etcd3";
import type { Role } from "#domain";

/** Fields of a registration; those not named have xLLM's usual values. */
export type EngineMeta = Partial<Record<string, unknown>>;

const TYPES: Record<Role, number> = { DEFAULT: 0, PREFILL: 1, DECODE: 2, MIX: 3 };

export class EtcdRegistrar {
  readonly #client: Etcd3;
  readonly #leases = new Set<Lease>();

  constructor(
    endpoint: string,
    readonly prefix = "",
  ) {
    this.#client = new Etcd3({ hosts: endpoint });
  }

  keyOf(role: Role, name: string): string {
    return `${this.prefix}XLLM:${role}:${name}`;
  }

  /** Puts the registration without a lease: it stays until it is deleted. */
  async put(role: Role, name: string, meta: EngineMeta = {}): Promise<void> {
    await this.#client.put(this.keyOf(role, name)).value(registrationJson(role, name, meta));
  }

  /** Puts the registration under a lease of `ttlSeconds` that is kept alive until it is released or dropped. */
  async putLeased(role: Role, name: string, meta: EngineMeta, ttlSeconds: number): Promise<Lease> {
    const lease = this.#client.lease(ttlSeconds);
    this.#leases.add(lease);
    await lease.put(this.keyOf(role, name)).value(registrationJson(role, name, meta));
    return lease;
  }

  async delete(role: Role, name: string): Promise<void> {
    await this.#client.delete().key(this.keyOf(role, name));
  }

  async putLoad(name: string, waitingRequests: number, cacheUsage: number): Promise<void> {
    const value = JSON.stringify({ gpu_cache_usage_perc: cacheUsage, waiting_requests_num: waitingRequests });
    await this.#client.put(`${this.prefix}XLLM:LOADMETRICS:${name}`).value(value);
  }

  close(): void {
    for (const lease of this.#leases) lease.release();
    this.#client.close();
  }
}

/** A registration as an xLLM engine writes it. */
export function registrationJson(role: Role, name: string, meta: EngineMeta = {}): string {
  return JSON.stringify({
    addrs: [],
    cluster_ids: [1],
    dp_size: 1,
    incarnation_id: "",
    kv_split_size: 1,
    model_weight_segments: null,
    name,
    ports: [],
    register_ts_ms: 0,
    rpc_address: name,
    total_phy_pages: 0,
    type: TYPES[role],
    worker_free_phy_pages: [],
    ...meta,
  });
}

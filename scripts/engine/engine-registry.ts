/** Where a simulated engine registers: with Warmpath itself, or in etcd as xLLM's engines do. */

import { Etcd3, type Lease } from "etcd3";
import type { Client } from "warmpath/client";
import type { EngineOptions } from "./engine-options.ts";
import type { EnginePorts } from "./served-engine.ts";

/** As xLLM's engines have it: so long after its process the registration ends. */
const LEASE_SECONDS = 3;

interface EngineRegistry {
  /** Registers the engine, or sees that it is registered. Throws when that cannot be done now. */
  ensureRegistered(): Promise<void>;
  /** Warmpath says that it does not know the engine. */
  forgotten(): void;
  /** Takes the engine out of the registry. */
  withdraw(): Promise<void>;
}

/** The heartbeats that follow are the registration's lease. */
export class HttpEngineRegistry implements EngineRegistry {
  readonly #client: Client;
  readonly #options: EngineOptions;
  readonly #ports: EnginePorts;
  readonly #incarnation: string;
  #isRegistered = false;

  constructor(client: Client, options: EngineOptions, ports: EnginePorts, incarnation: string) {
    this.#client = client;
    this.#options = options;
    this.#ports = ports;
    this.#incarnation = incarnation;
  }

  async ensureRegistered(): Promise<void> {
    if (this.#isRegistered) return;
    const { name, host, blockSize, topic } = this.#options;
    const { http, event, replay } = this.#ports;
    const { error } = await this.#client.api.v1.instances.post({
      name,
      address: `${host}:${http}`,
      engine: "xllm",
      incarnation_id: this.#incarnation,
      block_size: blockSize,
      topic,
      event_endpoints: [`tcp://${host}:${event}`],
      replay_endpoints: [`tcp://${host}:${replay}`],
    });
    if (error) throw new Error(error.value.detail);
    this.#isRegistered = true;
  }

  forgotten(): void {
    this.#isRegistered = false;
  }

  async withdraw(): Promise<void> {
    if (!this.#isRegistered) return;
    const { error } = await this.#client.api.v1
      .instances({ name: this.#options.name })
      .delete(undefined, { query: { incarnation_id: this.#incarnation } });
    if (error) throw new Error(error.value.detail);
  }
}

/** A key under a lease that ends with the process; the endpoints follow from the name, so block size and ports are Warmpath's. */
export class EtcdEngineRegistry implements EngineRegistry {
  readonly #client: Etcd3;
  readonly #key: string;
  readonly #value: string;
  /** Null while there is none that holds. */
  #lease: Lease | null = null;

  constructor(address: string, { name }: EngineOptions, incarnation: string) {
    this.#client = new Etcd3({ hosts: address });
    this.#key = `XLLM:DEFAULT:${name}`;
    this.#value = JSON.stringify({ name, rpc_address: name, type: 0, incarnation_id: incarnation, dp_size: 1 });
  }

  async ensureRegistered(): Promise<void> {
    if (this.#lease !== null) return;
    const lease = this.#client.lease(LEASE_SECONDS);
    lease.on("lost", () => {
      if (this.#lease === lease) this.#lease = null;
    });
    try {
      await lease.put(this.#key).value(this.#value);
    } catch (error) {
      lease.release();
      throw error;
    }
    this.#lease = lease;
  }

  /** The key is there; Warmpath has not read it yet. */
  forgotten(): void {}

  async withdraw(): Promise<void> {
    await this.#lease?.revoke();
    this.#client.close();
  }
}

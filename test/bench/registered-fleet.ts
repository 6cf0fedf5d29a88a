/** Many instances in a real etcd, and all that follows them but the streams themselves. */

import { Etcd3 } from "etcd3";
import { systemClock } from "#base";
import { EtcdConnection } from "../../src/fleet/etcd/etcd-connection.ts";
import { KeyTable } from "../../src/fleet/etcd/key-table.ts";
import { registryRange } from "../../src/fleet/etcd/keys.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { type StreamSet, Subscriptions } from "../../src/fleet/subscriptions/mod.ts";
import { EtcdRegistrar, registrationJson } from "../support/etcd-registrar.ts";
import { EtcdServer } from "../support/etcd-server.ts";
import { QUIET } from "../support/quiet-logger.ts";
import { RULES } from "../support/subscription-rules.ts";

/** Puts under way at once. */
const PUTS_AT_ONCE = 50;

const RANGE = registryRange("");

export class RegisteredFleet {
  readonly fleet: Fleet;
  readonly #server: EtcdServer;
  readonly #table: KeyTable;
  readonly #subscriptions: Subscriptions;
  readonly #streams = new CountedStreams();
  #revision = 0;

  private constructor(server: EtcdServer) {
    this.#server = server;
    const limits = { leaseLostHeartbeatTimeoutMs: 3000, suspectTimeoutMs: 15_000, loadReportMaxAgeMs: 10_000 };
    this.fleet = new Fleet({ clock: systemClock, limits, prober: { probe: async () => false }, logger: QUIET });
    this.#table = new KeyTable({ prefixBytes: 0, registrar: this.fleet, logger: QUIET });
    this.#subscriptions = new Subscriptions({ streams: this.#streams, rules: RULES, logger: QUIET });
    this.fleet.listener = { deregistered: (name) => this.#subscriptions.drop(name), changed: () => {} };
  }

  /** Done when all of them are known and subscribed to, as far as there is room. */
  static async start(etcdBinary: string, instances: number): Promise<RegisteredFleet> {
    const server = await EtcdServer.start(etcdBinary);
    const registrar = new EtcdRegistrar(server.endpoint);
    for (let first = 0; first < instances; first += PUTS_AT_ONCE) {
      const names = Array.from({ length: Math.min(PUTS_AT_ONCE, instances - first) }, (_, n) => nameOf(first + n));
      await Promise.all(names.map((name) => registrar.put("PREFILL", name, { incarnation_id: "first" })));
    }
    registrar.close();
    const registered = new RegisteredFleet(server);
    await registered.relist();
    registered.refresh();
    return registered;
  }

  /** Connects, lists the registry and tells the fleet what is different, as after a loss of etcd. */
  async relist(): Promise<void> {
    const connection = new EtcdConnection(Etcd3, this.#server.endpoint, null);
    try {
      const { revision, entries } = await connection.list(RANGE);
      this.#revision = revision;
      this.#table.applyListing(entries);
    } finally {
      connection.close();
    }
  }

  /** The subscriptions look at all instances. */
  refresh(): void {
    this.#subscriptions.refresh(this.fleet.instances());
  }

  /** A change that etcd may have sent: another process under the name of one instance. */
  changeOf(number: number, incarnation: string): { key: Buffer; value: Buffer; modRevision: number } {
    const name = nameOf(number);
    return {
      key: Buffer.from(`XLLM:PREFILL:${name}`),
      value: Buffer.from(registrationJson("PREFILL", name, { incarnation_id: incarnation })),
      modRevision: ++this.#revision,
    };
  }

  /** Takes such a change in, down to the streams. */
  apply(change: { key: Buffer; value: Buffer; modRevision: number }): void {
    this.#table.applyChange({ type: "put", ...change });
    this.refresh();
  }

  /** Streams that were ever added. */
  get streamsAdded(): number {
    return this.#streams.added;
  }

  async stop(): Promise<void> {
    this.fleet.stop();
    await this.#server.stop();
  }
}

class CountedStreams implements StreamSet {
  added = 0;

  addStream(): number {
    return this.added++;
  }

  removeStream(): void {}
}

function nameOf(number: number): string {
  return `10.0.${number >> 8}.${number & 255}:9100`;
}

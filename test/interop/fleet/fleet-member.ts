/**
 * One instance of the fleet: its door, the processes of its ranks, and what etcd has of it. Processes come back on the same
 * ports.
 */

import type { Engine, Role } from "#domain";
import { EngineDoor } from "../../support/engine-door.ts";
import { EtcdRegistrar } from "../../support/etcd-registrar.ts";
import { PeerEngine } from "../peer-engine.ts";
import { RankHistory } from "./rank-history.ts";

/** From the port of the door to those of rank 0; further ranks follow. */
export const EVENT_PORT_OFFSET = 2;
export const REPLAY_PORT_OFFSET = 4;
/** Neighbouring ports that a member of up to two ranks needs. */
export const MEMBER_PORTS = 6;

export const TOPIC = "kv@fleet@model";

/** As short as etcd lets a lease be, and long enough that a busy machine keeps it alive. */
const LEASE_SECONDS = 2;

/** One try to register, of which there are as many as it takes while etcd is away. */
const REGISTER_TRY_MS = 3000;
const REGISTER_PAUSE_MS = 100;
const REGISTER_TIMEOUT_MS = 30_000;

/** Tries to open the ports that a killed process had, which the kernel frees in its own time. */
const START_TRIES_MAX = 20;

export interface MemberOptions {
  python: string;
  etcdEndpoint: string;
  /** The first of `MEMBER_PORTS` free ones. */
  port: number;
  engine: Engine;
  ranks: number;
  /** Hears what happens to it. */
  tell: (line: string) => void;
}

export class FleetMember {
  readonly name: string;
  readonly histories: readonly RankHistory[];
  readonly #options: MemberOptions;
  #door: EngineDoor | null = null;
  #peers: readonly PeerEngine[] = [];
  #processes = 0;
  #registrar: EtcdRegistrar | null = null;
  #role: Role = "DEFAULT";
  #incarnations = 0;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.name = `127.0.0.1:${options.port}`;
    this.histories = Array.from({ length: options.ranks }, () => new RankHistory());
  }

  /** Of the processes that live, by rank; none after `kill` was called. */
  get peers(): readonly PeerEngine[] {
    return this.#peers;
  }

  /** Processes that it has had, each with all of its ranks. */
  get processes(): number {
    return this.#processes;
  }

  get isRegistered(): boolean {
    return this.#registrar !== null;
  }

  get role(): Role {
    return this.#role;
  }

  /** New processes that hold nothing, and the door open. */
  async start(): Promise<void> {
    for (const history of this.histories) history.starts();
    const peers = await Promise.all(this.histories.map((_, rank) => this.#startRank(rank)));
    this.#door = new EngineDoor(this.#options.port);
    this.#processes += 1;
    this.#peers = peers;
    for (const [rank, history] of this.histories.entries()) history.listens(peers[rank]);
    this.#tell(`process ${this.#processes - 1} listens`);
  }

  /** Kills the processes: they say goodbye to nobody. */
  async kill(): Promise<void> {
    const peers = this.#peers;
    this.#peers = [];
    this.#tell("is killed");
    await Promise.all(peers.map((peer) => peer.stop()));
    for (const history of this.histories) history.exits();
    await this.#door?.close();
    this.#door = null;
  }

  /** Puts it into etcd under a lease that is kept alive, as the process at hand or as a new one. */
  async register(as: "the same" | "another", role = this.#role): Promise<void> {
    if (as === "another") this.#incarnations += 1;
    const before = { registrar: this.#registrar, role: this.#role };
    this.#registrar = await this.#put(role);
    this.#role = role;
    if (as === "another") for (const history of this.histories) history.renewed();
    if (before.role !== role)
      await this.#registrar.delete(before.role, this.name).catch(() => this.#tell("keeps its old key for a while"));
    before.registrar?.close();
    this.#tell(`is registered as ${role}, process ${this.#incarnations}`);
  }

  /** Nobody keeps its lease alive any more. */
  forget(): void {
    this.#registrar?.close();
    this.#registrar = null;
    this.#tell("is forgotten");
  }

  async stop(): Promise<void> {
    await this.kill();
    this.forget();
  }

  async #startRank(rank: number): Promise<PeerEngine> {
    const { python, port, engine } = this.#options;
    const ports = { events: port + EVENT_PORT_OFFSET + rank, replay: port + REPLAY_PORT_OFFSET + rank };
    for (let tries = 1; ; tries++) {
      try {
        return await PeerEngine.start(python, ports, { engine, rank, topic: TOPIC });
      } catch (error) {
        if (tries === START_TRIES_MAX) throw error;
      }
    }
  }

  /** A client of its own each time: one that has seen etcd go is slow to notice that it is back. */
  async #put(role: Role): Promise<EtcdRegistrar> {
    const { engine, ranks, etcdEndpoint } = this.#options;
    const meta = { backend_type: engine, dp_size: ranks, incarnation_id: `process ${this.#incarnations}` };
    const deadlineMs = performance.now() + REGISTER_TIMEOUT_MS;
    while (performance.now() < deadlineMs) {
      const registrar = new EtcdRegistrar(etcdEndpoint);
      const put = registrar.putLeased(role, this.name, meta, LEASE_SECONDS).then(
        () => true,
        () => false,
      );
      if (await Promise.race([put, Bun.sleep(REGISTER_TRY_MS).then(() => false)])) return registrar;
      registrar.close();
      await Bun.sleep(REGISTER_PAUSE_MS);
    }
    throw new Error(`Cannot register ${this.name}: etcd took nothing within ${REGISTER_TIMEOUT_MS} ms`);
  }

  #tell(what: string): void {
    this.#options.tell(`Engine ${this.name} ${what}`);
  }
}

/**
 * Follows the registry in etcd: lists it, watches it from there, and begins again with a listing whenever anything goes wrong. While
 * etcd is away the fleet hears nothing, so nobody is deregistered for its sake; the next listing tells what changed in between.
 */

import { backoffDelayMs, type Clock, type Logger, systemClock } from "#base";
import type { FleetRegistrar, FleetSource } from "../registry.ts";
import { type Trouble, troubleOf } from "./errors.ts";
import { EtcdConnection, type EtcdCredentials, REQUEST_TIMEOUT_MS } from "./etcd-connection.ts";
import { KeyTable } from "./key-table.ts";
import { type KeyRange, namespacePrefix, registryRange } from "./keys.ts";
import { reach } from "./reach.ts";

export interface EtcdSourceOptions {
  /** The members, at least one; each try takes the next. */
  addresses: readonly string[];
  /** "" for none; "a" and "/a/" mean the same. */
  namespace: string;
  credentials: EtcdCredentials | null;
  registrar: FleetRegistrar;
  logger: Logger;
  clock?: Clock;
}

/** For the operator. */
export interface EtcdState {
  isConnected: boolean;
  /** The clock when that began. */
  sinceMs: number;
  /** Why it is not connected; null while it is, and before the first try ended. */
  error: string | null;
}

/** Between tries. A watch that held for `maxMs` starts it anew. */
const BACKOFF = { firstMs: 200, maxMs: 5000 };

export class EtcdSource implements FleetSource {
  readonly registry = "etcd";
  readonly #addresses: readonly string[];
  readonly #credentials: EtcdCredentials | null;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #range: KeyRange;
  readonly #table: KeyTable;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #connection: EtcdConnection | null = null;
  #hasListed = false;
  #state: EtcdState;
  /** Kinds of trouble that the log has of this outage: one line each, however many tries there are. */
  readonly #logged = new Set<Trouble["kind"]>();

  constructor({ addresses, namespace, credentials, registrar, logger, clock = systemClock }: EtcdSourceOptions) {
    const prefix = namespacePrefix(namespace);
    this.#addresses = addresses;
    this.#credentials = credentials;
    this.#logger = logger;
    this.#clock = clock;
    this.#range = registryRange(prefix);
    this.#table = new KeyTable({ prefixBytes: Buffer.byteLength(prefix), registrar, logger });
    this.#state = { isConnected: false, sinceMs: clock.nowMs(), error: null };
  }

  get state(): Readonly<EtcdState> {
    return this.#state;
  }

  get isConnected(): boolean {
    return this.#state.isConnected;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends at once what is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#connection?.close();
    await this.#running;
  }

  notReady(): string | null {
    if (this.#hasListed) return null;
    const { error } = this.#state;
    return `The instances in etcd are not known yet: ${error ?? `${this.#addresses.join(", ")} is being asked`}`;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    for (let turn = 0; !signal.aborted; turn++) {
      const address = this.#addresses[turn % this.#addresses.length];
      const trouble = troubleOf(await this.#follow(address), this.#credentials?.username ?? null, this.#range);
      if (signal.aborted) return;
      const { isConnected, sinceMs } = this.#state;
      const hasHeld = isConnected && this.#clock.nowMs() - sinceMs >= BACKOFF.maxMs;
      failures = hasHeld ? 1 : failures + 1;
      this.#disconnected(address, trouble);
      await pause(backoffDelayMs(failures, BACKOFF, Math.random()), signal);
    }
  }

  /** Lists and watches until something goes wrong, and returns what. */
  async #follow(address: string): Promise<unknown> {
    const { signal } = this.#stopping;
    try {
      await reach(address, REQUEST_TIMEOUT_MS, signal);
      // Its libraries take long to load, which only those pay who have an etcd.
      const { Etcd3 } = await import("etcd3");
      if (signal.aborted) return null;
      this.#connection = new EtcdConnection(Etcd3, address, this.#credentials);
      return await this.#listAndWatch(address, this.#connection);
    } catch (error) {
      return error;
    } finally {
      this.#connection?.close();
      this.#connection = null;
    }
  }

  async #listAndWatch(address: string, connection: EtcdConnection): Promise<never> {
    const isAuthenticated = await connection.authenticate();
    const { revision, entries } = await connection.list(this.#range);
    this.#table.applyListing(entries);
    this.#hasListed = true;
    return connection.watch(this.#range, revision + 1, {
      standing: () => this.#connected(address, isAuthenticated),
      changed: (change) => this.#table.applyChange(change),
    });
  }

  #connected(address: string, isAuthenticated: boolean): void {
    this.#state = { isConnected: true, sinceMs: this.#clock.nowMs(), error: null };
    this.#logged.clear();
    this.#logger.info("Connected to etcd", { address, instances: this.#table.instanceCount });
    if (!isAuthenticated) this.#logger.warn("The etcd user is not used: etcd has authentication switched off", { address });
  }

  #disconnected(address: string, { kind, sentence }: Trouble): void {
    const { isConnected, sinceMs } = this.#state;
    this.#state = { isConnected: false, sinceMs: isConnected ? this.#clock.nowMs() : sinceMs, error: sentence };
    if (this.#logged.has(kind)) return;
    this.#logged.add(kind);
    this.#logger.warn(isConnected ? "Lost etcd, instances stay as they are" : "Cannot follow etcd, it is tried again", {
      address,
      reason: sentence,
    });
  }
}

/** Waits, or until the signal aborts. */
function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal.addEventListener("abort", finish);
  });
}

/**
 * What was last seen under each key of the registry, and what the fleet is told when that changes. It must be given every change
 * from its listing's revision on, in order: then it is the registry as of the last change. No I/O.
 *
 * An instance that changes its role has two keys for a moment, in either order. The key with the highest mod revision speaks for
 * the instance; the other says nothing, and its deletion means nothing.
 */

import type { Logger } from "#base";
import type { InstanceRegistration, Role } from "#domain";
import type { FleetRegistrar } from "../registry.ts";
import { readInstanceMeta } from "./instance-meta.ts";
import type { ReadValue } from "./json-value.ts";
import { readKey } from "./keys.ts";
import { readLoadMetrics } from "./load-metrics.ts";

/** A key and its value at a revision, as etcd sends them; the bytes may be overwritten afterwards. */
export interface KeyValue {
  key: Uint8Array;
  value: Uint8Array;
  modRevision: number;
}

export type KeyChange = ({ type: "put" } & KeyValue) | { type: "delete"; key: Uint8Array };

/** Why a key of the range is left out; nobody could show or use it. */
export type SkipReason = "unknown-key" | "unreadable-name" | "malformed-load" | "table-full";

/** Names in the table, of instances and of loads: sixteen times as many as a fleet has. At the limit new ones are skipped. */
const NAMES_MAX = 65_536;

interface SeenValue {
  readonly modRevision: number;
  readonly value: Uint8Array;
}

interface SeenInstance extends SeenValue {
  readonly role: Role;
  readonly content: ReadValue<InstanceRegistration>;
}

export interface KeyTableOptions {
  /** Bytes of the namespace before each key. */
  prefixBytes: number;
  registrar: FleetRegistrar;
  logger: Logger;
}

export class KeyTable {
  readonly #prefixBytes: number;
  readonly #registrar: FleetRegistrar;
  readonly #logger: Logger;
  #instances = new Map<string, readonly SeenInstance[]>();
  #loads = new Map<string, SeenValue>();
  /** Names that the fleet lists as refused, for the key's own sake or for the fleet's. */
  readonly #refused = new Set<string>();
  readonly #skipped: Record<SkipReason, number> = {
    "unknown-key": 0,
    "unreadable-name": 0,
    "malformed-load": 0,
    "table-full": 0,
  };

  constructor({ prefixBytes, registrar, logger }: KeyTableOptions) {
    this.#prefixBytes = prefixBytes;
    this.#registrar = registrar;
    this.#logger = logger;
  }

  /** Instances that have a key, refused ones included. */
  get instanceCount(): number {
    return this.#instances.size;
  }

  get skipped(): Readonly<Record<SkipReason, number>> {
    return this.#skipped;
  }

  /**
   * The whole range at one revision. Only differences are told: first who is gone, then who came or changed, then the loads, of
   * which some belong to those who came.
   */
  applyListing(listing: readonly KeyValue[]): void {
    const instances = new Map<string, readonly SeenInstance[]>();
    const loads = new Map<string, KeyValue>();
    for (const entry of listing) {
      const key = readKey(entry.key, this.#prefixBytes);
      if (key.kind === "instance") {
        if (this.#hasRoom(instances, key.name)) {
          const known = this.#instances.get(key.name)?.find(({ role }) => role === key.role);
          const seen = known !== undefined && isSame(known, entry) ? known : seeInstance(key.role, key.name, entry);
          instances.set(key.name, [...(instances.get(key.name) ?? []), seen]);
        }
      } else if (key.kind === "load") {
        if (this.#hasRoom(loads, key.name)) loads.set(key.name, entry);
      } else this.#skipKey(key.kind, entry.key);
    }
    for (const name of [...this.#instances.keys()]) if (!instances.has(name)) this.#settle(name, []);
    for (const [name, seen] of instances) this.#settle(name, seen);
    for (const name of [...this.#loads.keys()]) if (!loads.has(name)) this.#loads.delete(name);
    for (const [name, entry] of loads) this.#seeLoad(name, entry);
  }

  applyChange(change: KeyChange): void {
    const key = readKey(change.key, this.#prefixBytes);
    if (key.kind === "instance") this.#changeInstance(key.role, key.name, change);
    else if (key.kind === "load") {
      if (change.type === "delete") this.#loads.delete(key.name);
      else if (this.#hasRoom(this.#loads, key.name)) this.#seeLoad(key.name, change);
    } else if (change.type === "put") this.#skipKey(key.kind, change.key);
  }

  #changeInstance(role: Role, name: string, change: KeyChange): void {
    const others = (this.#instances.get(name) ?? []).filter((seen) => seen.role !== role);
    if (change.type === "delete") this.#settle(name, others);
    else if (this.#hasRoom(this.#instances, name)) this.#settle(name, [...others, seeInstance(role, name, change)]);
  }

  /** Makes `seen` what the registry has under the name, and tells the fleet if someone else speaks than before. */
  #settle(name: string, seen: readonly SeenInstance[]): void {
    const before = speaker(this.#instances.get(name) ?? []);
    const now = speaker(seen);
    if (now === null) this.#instances.delete(name);
    else this.#instances.set(name, seen);
    if (now === before) return;
    if (now !== null) this.#tell(name, now);
    else if (before !== null) this.#tellGone(name, before);
  }

  #tell(name: string, { content }: SeenInstance): void {
    if (content.kind === "problem") {
      this.#refused.add(name);
      this.#registrar.refuse("etcd", name, content.reason);
    } else if (typeof this.#registrar.put("etcd", content.value) === "object") this.#refused.add(name);
    else this.#refused.delete(name);
  }

  #tellGone(name: string, { content }: SeenInstance): void {
    // What the fleet refused at first it may have taken later, so it hears both.
    if (content.kind === "value") this.#registrar.loseLease("etcd", name, content.value.incarnation);
    if (this.#refused.delete(name)) this.#registrar.withdrawRefusal("etcd", name);
  }

  #seeLoad(name: string, entry: KeyValue): void {
    const known = this.#loads.get(name);
    if (known !== undefined && isSame(known, entry)) return;
    this.#loads.set(name, { modRevision: entry.modRevision, value: new Uint8Array(entry.value) });
    const read = readLoadMetrics(entry.value);
    if (read.kind === "value") this.#registrar.reportLoad("etcd", name, read.value);
    else this.#skip("malformed-load", { name, problem: read.reason });
  }

  #hasRoom(table: ReadonlyMap<string, unknown>, name: string): boolean {
    if (table.size < NAMES_MAX || table.has(name)) return true;
    this.#skip("table-full", { name });
    return false;
  }

  #skipKey(kind: "unknown" | "unreadable-name", key: Uint8Array): void {
    this.#skip(kind === "unknown" ? "unknown-key" : kind, { key: Buffer.from(key).toString("latin1", 0, 300) });
  }

  /** Counts every key, and logs the first of each reason: what writes such keys writes many. */
  #skip(reason: SkipReason, fields: Record<string, string>): void {
    if (this.#skipped[reason]++ === 0) this.#logger.warn("Keys in etcd are skipped, this is the first", { reason, ...fields });
  }
}

/** The key that speaks for an instance. */
function speaker(seen: readonly SeenInstance[]): SeenInstance | null {
  return seen.reduce<SeenInstance | null>(
    (best, one) => (best === null || one.modRevision > best.modRevision ? one : best),
    null,
  );
}

function seeInstance(role: Role, name: string, { modRevision, value }: KeyValue): SeenInstance {
  return { role, modRevision, value: new Uint8Array(value), content: readInstanceMeta(role, name, value) };
}

/** The values are compared too: an etcd that lost its data counts revisions anew. */
function isSame(seen: SeenValue, { modRevision, value }: KeyValue): boolean {
  return seen.modRevision === modRevision && Buffer.compare(seen.value, value) === 0;
}

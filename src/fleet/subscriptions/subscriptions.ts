/**
 * Makes a set of streams follow the fleet. A stream whose description has not changed in any field is left alone, index and all;
 * any other is removed and added anew. Changes are logged once, when they come.
 */

import type { Logger } from "#base";
import type { InstanceRegistration, StreamDescription } from "#domain";
import type { Instance } from "../instance.ts";
import type { Overlap } from "./overlaps.ts";
import { type EndpointConflict, SubscriptionPlanner } from "./plan.ts";
import type { Exclusion, SubscriptionRules } from "./rules.ts";

/** Where streams run. */
export interface StreamSet {
  /** The stream's id, or null when there is no room. */
  addStream(stream: StreamDescription): number | null;
  removeStream(id: number): void;
}

export interface SubscriptionStatus {
  /** The instance's streams that are open, by rank; static ones too. */
  streams: readonly StreamDescription[];
  /** Why the fleet's registration of the instance has led to none of them; null when it has. */
  excluded: string | null;
}

export interface SubscriptionsOptions {
  streams: StreamSet;
  rules: SubscriptionRules;
  logger: Logger;
}

interface OpenStream {
  id: number;
  stream: StreamDescription;
}

const NOT_LOOKED_AT = "it has not been looked at yet";

export class Subscriptions {
  readonly #streams: StreamSet;
  readonly #logger: Logger;
  readonly #planner: SubscriptionPlanner;
  /** By instance name, in rank order; never an empty list. */
  readonly #open = new Map<string, OpenStream[]>();
  #excluded: ReadonlyMap<string, Exclusion> = new Map();
  /** Instances dropped since the last refresh, which is what the exclusions speak of. */
  readonly #dropped = new Set<string>();
  /** Overlaps that have been logged and are still there. */
  #overlaps: ReadonlySet<string> = new Set();

  constructor({ streams, rules, logger }: SubscriptionsOptions) {
    this.#streams = streams;
    this.#logger = logger;
    this.#planner = new SubscriptionPlanner(rules);
  }

  /** Follows the fleet as it is now. `instances` in name order. Costs little when nothing has changed. */
  refresh(instances: readonly Instance[]): void {
    const { wanted, excluded, overlaps } = this.#planner.plan(instances);
    const exclusions = new Map(excluded);
    const unsubscribed = new Set<string>();
    for (const [name, open] of this.#open) {
      const streams = wanted.get(name) ?? [];
      const reason =
        streams.length > 0 ? "its streams are described anew" : (exclusions.get(name)?.reason ?? "it is not registered");
      if (this.#removeUnwanted(name, open, streams, reason)) unsubscribed.add(name);
    }
    for (const [name, streams] of wanted) {
      if (!this.#addMissing(name, streams)) exclusions.set(name, { kind: "limit", reason: "no further stream can be opened" });
    }
    this.#logOverlaps(overlaps);
    this.#logExclusions(exclusions, unsubscribed);
    this.#excluded = exclusions;
    this.#dropped.clear();
  }

  /** The process under this name is gone: its streams are removed at once. Static streams stay. */
  drop(name: string): void {
    this.#dropped.add(name);
    if (this.#planner.staticStreams.has(name)) return;
    const open = this.#open.get(name);
    if (open !== undefined) this.#removeUnwanted(name, open, [], "it is deregistered");
  }

  statusOf(name: string): SubscriptionStatus {
    const streams = (this.#open.get(name) ?? []).map(({ stream }) => stream);
    const isStatic = this.#planner.staticStreams.has(name);
    const known = this.#dropped.has(name) ? undefined : this.#excluded.get(name)?.reason;
    return { streams, excluded: known ?? (streams.length === 0 || isStatic ? NOT_LOOKED_AT : null) };
  }

  /**
   * An endpoint of the registration that a static stream has, or one of the instances of another name, whatever its state. Null
   * also when the registration has none that could be subscribed to.
   */
  conflictOf(registration: InstanceRegistration, instances: readonly Instance[]): EndpointConflict | null {
    return this.#planner.conflictOf(registration, instances);
  }

  /** True when there was one to remove. */
  #removeUnwanted(name: string, open: readonly OpenStream[], wanted: readonly StreamDescription[], reason: string): boolean {
    const kept = open.filter(({ stream }) => wanted.some((candidate) => isSame(candidate, stream)));
    if (kept.length === open.length) return false;
    const gone = open.filter((candidate) => !kept.includes(candidate));
    for (const { id } of gone) this.#streams.removeStream(id);
    if (kept.length === 0) this.#open.delete(name);
    else this.#open.set(name, kept);
    this.#logger.info("Unsubscribed", { instance: name, ranks: ranksOf(gone), reason });
    return true;
  }

  /** False when there is no room for all of them: then none is open. */
  #addMissing(name: string, wanted: readonly StreamDescription[]): boolean {
    const open = this.#open.get(name) ?? [];
    if (open.length === wanted.length) return true;
    const added: OpenStream[] = [];
    for (const stream of wanted) {
      if (open.some((candidate) => candidate.stream.dpRank === stream.dpRank)) continue;
      const id = this.#streams.addStream(stream);
      if (id === null) {
        for (const { id: addedId } of added) this.#streams.removeStream(addedId);
        this.#removeUnwanted(name, open, [], "not all of its streams can be opened");
        return false;
      }
      added.push({ id, stream });
    }
    this.#open.set(
      name,
      [...open, ...added].sort((a, b) => a.stream.dpRank - b.stream.dpRank),
    );
    this.#logger.info("Subscribed", { instance: name, ranks: ranksOf(added), incarnation: wanted[0].incarnation });
    return true;
  }

  #logOverlaps(overlaps: readonly Overlap[]): void {
    const present = new Set<string>();
    for (const { endpoint, first, second } of overlaps) {
      const pair = `${first} and ${second}`;
      if (!present.has(pair) && !this.#overlaps.has(pair)) {
        this.#logger.error("Endpoints overlap, no registered instance that has them is subscribed to", {
          endpoint,
          first,
          second,
        });
      }
      present.add(pair);
    }
    this.#overlaps = present;
  }

  /** Of the unsubscribed it has been said already why; only what someone must mend is said in its own tone. */
  #logExclusions(exclusions: ReadonlyMap<string, Exclusion>, unsubscribed: ReadonlySet<string>): void {
    for (const [name, exclusion] of exclusions) {
      const before = this.#dropped.has(name) ? undefined : this.#excluded.get(name);
      if (before !== undefined && isSameCause(before, exclusion)) continue;
      const fields = { instance: name, reason: exclusion.reason };
      switch (exclusion.kind) {
        case "settled":
          if (!unsubscribed.has(name)) this.#logger.info("Not subscribed", fields);
          break;
        case "limit":
          this.#logger.warn("Not subscribed", fields);
          break;
        case "fault":
          this.#logger.error("Not subscribed", fields);
          break;
        case "overlap":
          break; // the overlap is logged, with both sides
      }
    }
  }
}

function isSame(a: StreamDescription, b: StreamDescription): boolean {
  return a === b || Bun.deepEquals(a, b);
}

/** How much room is left changes with every instance that comes or goes: that is no news. */
function isSameCause(a: Exclusion, b: Exclusion): boolean {
  return a.kind === b.kind && (a.kind === "limit" || a.reason === b.reason);
}

function ranksOf(streams: readonly OpenStream[]): string {
  return streams.map(({ stream }) => stream.dpRank).join(",");
}

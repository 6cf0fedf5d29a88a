/**
 * Which streams are wanted, and for every instance without any, why: static streams first, then instances in name order, each
 * as a whole or not at all. No endpoint is wanted twice: where two instances claim one, neither is believed.
 */

import { canonicalEndpoint, type InstanceRegistration, type StreamDescription } from "#domain";
import type { Instance } from "../instance.ts";
import { type DerivedStreams, deriveStreams } from "./endpoints.ts";
import { type Candidate, findOverlaps, type Overlap } from "./overlaps.ts";
import type { Exclusion, SubscriptionRules } from "./rules.ts";

export interface SubscriptionPlan {
  /** By instance name. */
  wanted: ReadonlyMap<string, readonly StreamDescription[]>;
  excluded: ReadonlyMap<string, Exclusion>;
  overlaps: readonly Overlap[];
}

/** An endpoint that two claim, and who has it. */
export interface EndpointConflict {
  endpoint: string;
  instanceName: string;
}

/** Plans by rules that stay the same; what follows from a registration alone is worked out once for each object. */
export class SubscriptionPlanner {
  readonly #rules: SubscriptionRules;
  readonly #staticStreams = new Map<string, StreamDescription[]>();
  /** By canonical endpoint. */
  readonly #staticEndpoints = new Map<string, StreamDescription>();
  readonly #derived = new WeakMap<InstanceRegistration, DerivedStreams | Exclusion>();

  constructor(rules: SubscriptionRules) {
    this.#rules = rules;
    for (const stream of rules.staticStreams) {
      const streams = this.#staticStreams.get(stream.instanceName) ?? [];
      streams.push(stream);
      this.#staticStreams.set(stream.instanceName, streams);
      for (const endpoint of [stream.endpoint, stream.replayEndpoint]) {
        if (endpoint !== null) this.#staticEndpoints.set(canonicalEndpoint(endpoint) ?? endpoint, stream);
      }
    }
  }

  get staticStreams(): ReadonlyMap<string, readonly StreamDescription[]> {
    return this.#staticStreams;
  }

  /** `instances` in name order; nothing depends on what was planned before. */
  plan(instances: readonly Instance[]): SubscriptionPlan {
    const excluded = new Map<string, Exclusion>();
    const candidates: Candidate[] = [];
    for (const instance of instances) {
      const { name } = instance.registration;
      const derived = this.#settled(instance) ?? this.#derive(instance.registration);
      if ("reason" in derived) excluded.set(name, derived);
      else candidates.push({ name, derived });
    }
    const overlapping = findOverlaps(candidates, this.#staticEndpoints);
    for (const [name, exclusion] of overlapping.excluded) excluded.set(name, exclusion);

    const wanted = new Map<string, readonly StreamDescription[]>(this.#staticStreams);
    const { maxStreams, staticStreams } = this.#rules;
    let left = Math.max(0, maxStreams - staticStreams.length);
    for (const { name, derived } of candidates) {
      if (excluded.has(name)) continue;
      const needed = derived.streams.length;
      if (needed > left) {
        excluded.set(name, {
          kind: "limit",
          reason: `${needed} ${needed === 1 ? "stream" : "streams"} needed, ${left} of max_streams ${maxStreams} left`,
        });
        continue;
      }
      wanted.set(name, derived.streams);
      left -= needed;
    }
    return { wanted, excluded, overlaps: overlapping.overlaps };
  }

  /** An endpoint of the registration that a static stream or one of the instances has, but for those of its own name. */
  conflictOf(registration: InstanceRegistration, instances: readonly Instance[]): EndpointConflict | null {
    const derived = deriveStreams(registration, this.#rules);
    if ("reason" in derived) return null;
    const { name } = registration;
    for (const endpoint of derived.endpoints) {
      const listed = this.#staticEndpoints.get(endpoint);
      if (listed !== undefined && listed.instanceName !== name) return { endpoint, instanceName: listed.instanceName };
    }
    const endpoints = new Set(derived.endpoints);
    for (const { registration: other } of instances) {
      if (other.name === name) continue;
      const others = this.#derive(other);
      const endpoint = "reason" in others ? undefined : others.endpoints.find((candidate) => endpoints.has(candidate));
      if (endpoint !== undefined) return { endpoint, instanceName: other.name };
    }
    return null;
  }

  /** What keeps an instance out whatever its endpoints are. */
  #settled({ registration, state, currentRole }: Instance): Exclusion | null {
    if (this.#staticStreams.has(registration.name)) {
      return { kind: "settled", reason: "the KV events file lists streams under its name" };
    }
    if (state === "SUSPECT") return { kind: "settled", reason: "it is SUSPECT" };
    if (currentRole === "DECODE")
      return { kind: "settled", reason: "it works as DECODE, whose blocks no other request can reuse" };
    return null;
  }

  #derive(registration: InstanceRegistration): DerivedStreams | Exclusion {
    const known = this.#derived.get(registration);
    if (known !== undefined) return known;
    const derived = deriveStreams(registration, this.#rules);
    this.#derived.set(registration, derived);
    return derived;
  }
}

/**
 * The policy at work: gives it the fleet as it is now and the directory's answer, performs the flips that it asks for, and lets it
 * know of time and of instances that are gone. A decision waits for nothing.
 */

import type { Clock } from "#base";
import type { LoadBalancePolicy, Namespace, StreamMatch } from "#domain";
import type { Instance } from "#fleet";
import type { CurrentLoad, Exclusion } from "./candidate.ts";
import { type Decision, type Flip, refusalReason } from "./decision.ts";
import { type Contest, judge, type LoadOf } from "./eligibility.ts";
import { CacheAware, type CacheAwareOptions } from "./policies/cache-aware.ts";
import type { Policy, PolicyBooks, PolicyCounts, RouteRequest } from "./policies/policy.ts";
import { RoundRobin } from "./policies/round-robin.ts";
import { SloAware } from "./policies/slo-aware.ts";
import type { RequestStep } from "./request-step.ts";
import type { SloTargets } from "./slo/schedule.ts";

/** Who holds how much of a prompt. */
export interface RouteDirectory {
  /** Where the prompt's tokens are. */
  readonly tokens: Uint32Array;
  match(tokenCount: number, instanceNames: null, namespace: Namespace | null): readonly StreamMatch[] | "busy";
}

/** Who is there. */
export interface RouteFleet {
  /** By name. */
  instances(): readonly Instance[];
  loadOf(instance: Instance, nowMs: number): CurrentLoad;
  setCurrentRole(name: string, role: "PREFILL" | "DECODE"): void;
}

/** Who hears of every decision, right after it; `durationMs` is the time that it took, the match included. */
export type DecisionObserver = (decision: Decision | "busy", prompt: RoutePrompt, durationMs: number) => void;

export interface RouterOptions extends CacheAwareOptions, SloTargets {
  policy: LoadBalancePolicy;
  directory: RouteDirectory;
  fleet: RouteFleet;
  /** The fleet's clock. */
  clock: Clock;
  onDecision?: DecisionObserver;
}

export interface RoutePrompt {
  /** Of the request; one of the same id that went out before is over. */
  requestId: string;
  /** The prompt is the first so many tokens of the directory's token memory. */
  tokenCount: number;
  namespace: Namespace | null;
}

export class Router {
  readonly #policy: Policy;
  readonly #directory: RouteDirectory;
  readonly #fleet: RouteFleet;
  readonly #clock: Clock;
  readonly #onDecision: DecisionObserver | null;

  constructor(options: RouterOptions) {
    this.#policy = createPolicy(options);
    this.#directory = options.directory;
    this.#fleet = options.fleet;
    this.#clock = options.clock;
    this.#onDecision = options.onDecision ?? null;
  }

  /** Decides where a prompt goes, and remembers it. "busy": the index was not free in time; nothing is remembered then. */
  route(prompt: RoutePrompt): Decision | "busy" {
    if (this.#onDecision === null) return this.#decide(prompt);
    const beganAtMs = performance.now();
    const decision = this.#decide(prompt);
    this.#onDecision(decision, prompt, performance.now() - beganAtMs);
    return decision;
  }

  /** What `route` would decide now. Nothing is remembered, performed or observed. */
  preview(prompt: RoutePrompt): Decision | "busy" {
    const request = this.#requestOf(prompt);
    return request === "busy" ? "busy" : this.#policy.preview(request);
  }

  /** Steps of requests that are not in the books, and requests that were forgotten, since the start. */
  get counts(): Readonly<PolicyCounts> {
    return this.#policy.counts;
  }

  /** What the policy knows to be under way. */
  get books(): Readonly<PolicyBooks> {
    return this.#policy.books;
  }

  #decide(prompt: RoutePrompt): Decision | "busy" {
    const request = this.#requestOf(prompt);
    if (request === "busy") return "busy";
    const decision = this.#policy.decide(request);
    if (decision.kind === "placed") this.#flip(decision.flip);
    return decision;
  }

  #requestOf({ requestId, tokenCount, namespace }: RoutePrompt): RouteRequest | "busy" {
    const matches = this.#policy.needsMatches ? this.#directory.match(tokenCount, null, namespace) : [];
    if (matches === "busy") return "busy";
    const nowMs = this.#clock.nowMs();
    return {
      requestId,
      tokens: this.#directory.tokens.subarray(0, tokenCount),
      namespace,
      matches,
      instances: this.#fleet.instances(),
      loadOf: this.#loadsAt(nowMs),
      nowMs,
    };
  }

  /** Takes note of how a request fares; `tokenCount` is that of `generate`. False: the policy's books do not have the request. */
  step(requestId: string, step: RequestStep, tokenCount: number): boolean {
    const isKnown = this.#policy.knows(requestId);
    this.#flip(this.#policy.step(requestId, step, this.#fleet.instances(), this.#clock.nowMs(), tokenCount));
    return isKnown;
  }

  /** Null while a request could be placed; else why none could, a sentence each. */
  notServing(): string[] | null {
    const { candidates, prefill } = this.#contest();
    return prefill.length > 0 ? null : [refusalReason(candidates)];
  }

  /** The instances that may not serve now, by name, and why. */
  exclusions(): ReadonlyMap<string, Exclusion> {
    const exclusions = new Map<string, Exclusion>();
    for (const { instance, excluded } of this.#contest().candidates) {
      if (excluded !== null) exclusions.set(instance.registration.name, excluded);
    }
    return exclusions;
  }

  /** To be called about once a second. */
  tick(): void {
    for (const flip of this.#policy.tick(this.#fleet.instances(), this.#clock.nowMs())) this.#flip(flip);
  }

  /** The process is gone; one of the same name begins with nothing. */
  deregistered(name: string): void {
    this.#policy.forgetInstance(name);
  }

  #contest(): Contest {
    return judge(this.#fleet.instances(), this.#policy.needsLoads ? this.#loadsAt(this.#clock.nowMs()) : null);
  }

  #loadsAt(nowMs: number): LoadOf {
    return (instance) => this.#fleet.loadOf(instance, nowMs);
  }

  #flip(flip: Flip | null): void {
    if (flip !== null) this.#fleet.setCurrentRole(flip.name, flip.to);
  }
}

function createPolicy(options: RouterOptions): Policy {
  switch (options.policy) {
    case "CAR":
      return new CacheAware(options);
    case "RR":
      return new RoundRobin();
    case "SLO_AWARE":
      return new SloAware(options);
  }
}

/**
 * SLO_AWARE: estimates from the engines' own measurements which instances keep the times promised, and moves MIX instances to the
 * side that is short. Without a decode instance or without tokens there is nothing to estimate: RR decides.
 */

import { assert } from "#base";
import type { InstanceRegistration } from "#domain";
import type { Instance } from "#fleet";
import type { CandidateDraft } from "../candidate.ts";
import type { Decision, Flip, Placement } from "../decision.ts";
import { judge } from "../eligibility.ts";
import type { RequestStep } from "../request-step.ts";
import { type TpotCurve, type TtftCurve, tpotCurve, ttftCurve } from "../slo/curves.ts";
import { Ledger } from "../slo/ledger.ts";
import { type SloTargets, schedule } from "../slo/schedule.ts";
import type { Policy, PolicyBooks, PolicyCounts, RouteRequest } from "./policy.ts";
import { cheapest, Rotation } from "./rotation.ts";
import { RoundRobin } from "./round-robin.ts";

/** A placement by estimates, and the prefill instance whose turn it was, which mostly has it. */
interface Estimated {
  placement: Placement;
  first: CandidateDraft;
}

interface Curves {
  ttft: TtftCurve;
  tpot: TpotCurve;
}

export class SloAware implements Policy {
  readonly name = "SLO_AWARE";
  readonly needsLoads = false;
  readonly needsMatches = false;
  readonly #targets: SloTargets;
  readonly #ledger = new Ledger();
  readonly #prefillTurn = new Rotation();
  readonly #roundRobin = new RoundRobin();
  /** A refreshed registration is another object, with curves of its own. */
  readonly #curves = new WeakMap<InstanceRegistration, Curves>();
  /** Decode instances that ran out of requests other than by a step; looked at with the next tick. */
  readonly #idle = new Set<string>();

  constructor(targets: SloTargets) {
    this.#targets = targets;
  }

  get counts(): PolicyCounts {
    return { forgottenRequests: this.#ledger.forgottenRequests, unknownSteps: this.#ledger.unknownSteps };
  }

  get books(): PolicyBooks {
    return { ...this.#ledger.requests, predictedPrefixes: 0 };
  }

  decide(request: RouteRequest): Decision {
    for (const name of this.#ledger.withdraw(request.requestId)) this.#idle.add(name);
    const estimated = this.#estimate(request);
    if (estimated !== null) this.#prefillTurn.take(estimated.first);
    const decision = estimated?.placement ?? this.#roundRobin.decide(request);
    if (decision.kind === "placed") this.#book(decision, request);
    return decision;
  }

  preview(request: RouteRequest): Decision {
    return this.#estimate(request)?.placement ?? this.#roundRobin.preview(request);
  }

  knows(requestId: string): boolean {
    return this.#ledger.has(requestId);
  }

  step(requestId: string, step: RequestStep, instances: readonly Instance[], nowMs: number, tokenCount = 1): Flip | null {
    const idle = this.#ledger.step(requestId, step, nowMs, tokenCount);
    return idle === null ? null : this.#flipOfIdle(idle, instances, 0);
  }

  tick(instances: readonly Instance[], nowMs: number): readonly Flip[] {
    for (const name of this.#ledger.expire(nowMs)) this.#idle.add(name);
    const flips: Flip[] = [];
    for (const name of this.#idle) {
      const flip = this.#flipOfIdle(name, instances, flips.length);
      if (flip !== null) flips.push(flip);
    }
    this.#idle.clear();
    return flips;
  }

  forgetInstance(name: string): void {
    for (const idle of this.#ledger.forgetInstance(name)) this.#idle.add(idle);
    this.#idle.delete(name);
  }

  reset(): void {
    this.#ledger.reset();
    this.#prefillTurn.reset();
    this.#roundRobin.reset();
    this.#idle.clear();
  }

  /** Null where there is nothing to estimate by. What the request itself has on the books does not count. */
  #estimate(request: RouteRequest): Estimated | null {
    const { candidates, prefill, decode } = judge(request.instances, null);
    if (request.tokens.length === 0 || decode.length === 0 || prefill.length === 0) return null;
    const prefillOptions = prefill.map((candidate) => this.#prefillOption(candidate, request));
    const decodeOptions = decode.map((candidate) => ({
      ...this.#prefillOption(candidate, request),
      tpotMs: this.#tpotMs(candidate, request),
    }));
    for (const { candidate, estimatedPrefillMs } of prefillOptions) candidate.score = estimatedPrefillMs;
    for (const { candidate, tpotMs } of decodeOptions) candidate.score = tpotMs;
    const turn = this.#prefillTurn.next(cheapest(prefill));
    const first = prefillOptions.find(({ candidate }) => candidate === turn);
    assert(first !== undefined, "a side that is not empty has a cheapest candidate");
    const { prefill: chosen, decode: decoding, isFlipWanted } = schedule(first, prefillOptions, decodeOptions, this.#targets);
    const { registration } = first.candidate.instance;
    const placement: Placement = {
      kind: "placed",
      policy: this.name,
      prefill: chosen.candidate,
      decode: decoding.candidate,
      candidates,
      flip: isFlipWanted && registration.role === "MIX" ? { name: registration.name, to: "DECODE" } : null,
    };
    return { placement, first: first.candidate };
  }

  #book({ prefill, decode }: Placement, { requestId, tokens, nowMs }: RouteRequest): void {
    const { registration } = prefill.instance;
    const booking = {
      requestId,
      prefillName: registration.name,
      decodeName: decode?.instance.registration.name ?? null,
      promptTokens: tokens.length,
      ttftMs: this.#curvesOf(registration).ttft(tokens.length),
    };
    for (const name of this.#ledger.schedule(booking, nowMs)) this.#idle.add(name);
  }

  #prefillOption(candidate: CandidateDraft, { requestId }: RouteRequest) {
    const { estimatedPrefillMs } = this.#ledger.accountWithout(requestId, candidate.instance.registration.name);
    return { candidate, estimatedPrefillMs };
  }

  #tpotMs({ instance: { registration } }: CandidateDraft, { requestId, tokens }: RouteRequest): number {
    const { decodeTokens, decodeRequests } = this.#ledger.accountWithout(requestId, registration.name);
    return this.#curvesOf(registration).tpot(decodeTokens + tokens.length, decodeRequests + 1);
  }

  /** A MIX instance that has nothing left to decode goes back to prefill, unless it would leave no other to decode. */
  #flipOfIdle(name: string, instances: readonly Instance[], flipsBefore: number): Flip | null {
    if (this.#ledger.account(name).decodeRequests > 0) return null;
    const decode = judge(instances, null).decode.map(({ instance }) => instance.registration);
    const isMix = decode.some((registration) => registration.name === name && registration.role === "MIX");
    return isMix && decode.length - flipsBefore > 1 ? { name, to: "PREFILL" } : null;
  }

  #curvesOf(registration: InstanceRegistration): Curves {
    const known = this.#curves.get(registration);
    if (known !== undefined) return known;
    const curves = { ttft: ttftCurve(registration.ttftSamples), tpot: tpotCurve(registration.tpotSamples) };
    this.#curves.set(registration, curves);
    return curves;
  }
}

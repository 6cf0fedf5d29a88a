/**
 * CAR: prefills where the prompt's prefix is and the queue is short, decodes where there is room. Each side is scored by itself;
 * equal scores take turns. README.md has the formulas.
 */

import type { CandidateDraft, PrefixHits } from "../candidate.ts";
import { type Decision, type Placement, refuse } from "../decision.ts";
import { judge } from "../eligibility.ts";
import { type HitWeights, kvHitRatio, measuredHits, measuredTokens } from "../hit-ratio.ts";
import { InFlight } from "../in-flight.ts";
import { MatchGroups } from "../match-groups.ts";
import { PredictedResidency } from "../predicted-residency.ts";
import { type PromptKeys, promptKeys } from "../prompt-keys.ts";
import type { RequestStep } from "../request-step.ts";
import { decodeScore } from "../scoring/decode.ts";
import { prefillScore } from "../scoring/prefill.ts";
import { setQueueCosts } from "../scoring/queue.ts";
import type { Policy, PolicyBooks, PolicyCounts, RouteRequest } from "./policy.ts";
import { cheapest, Rotation } from "./rotation.ts";

export interface CacheAwareOptions extends HitWeights {
  /** λ, 0 to 1: how much hits count against queues. */
  prefillLambda: number;
  /** How long a prompt counts as resident where it was sent, before its blocks are announced; 0: not at all. */
  predictionWindowMs: number;
  /** Whether requests that no load report can know of yet count as waiting. */
  trackInFlight: boolean;
}

export class CacheAware implements Policy {
  readonly name = "CAR";
  readonly needsLoads = true;
  readonly needsMatches = true;
  readonly #options: CacheAwareOptions;
  readonly #prefillTurn = new Rotation();
  readonly #decodeTurn = new Rotation();
  readonly #prefillInFlight = new InFlight();
  readonly #decodeInFlight = new InFlight();
  readonly #predicted: PredictedResidency;
  readonly #matches = new MatchGroups();

  constructor(options: CacheAwareOptions) {
    this.#options = options;
    this.#predicted = new PredictedResidency(options.predictionWindowMs);
  }

  get counts(): PolicyCounts {
    return { forgottenRequests: this.#prefillInFlight.forgotten + this.#decodeInFlight.forgotten, unknownSteps: 0 };
  }

  get books(): PolicyBooks {
    return {
      prefillRequests: this.#prefillInFlight.size,
      decodeRequests: this.#decodeInFlight.size,
      predictedPrefixes: this.#predicted.size,
    };
  }

  decide(request: RouteRequest): Decision {
    this.#prefillInFlight.finish(request.requestId);
    this.#decodeInFlight.finish(request.requestId);
    const keys = new PromptKeyCache(request);
    const decision = this.#weigh(request, keys, countAndDrop);
    if (decision.kind === "placed") this.#remember(decision, request, keys);
    return decision;
  }

  preview(request: RouteRequest): Decision {
    const { requestId } = request;
    return this.#weigh(request, new PromptKeyCache(request), (inFlight, ...look) => inFlight.peek(...look, requestId));
  }

  /** Load reports end what is in flight as well, so that a request without an entry is as good as any. */
  knows(): true {
    return true;
  }

  /** Any step ends the wait for the prefill; only the end of the request ends that on the decode side. */
  step(requestId: string, step: RequestStep): null {
    this.#prefillInFlight.finish(requestId);
    if (step === "finish-decode" || step === "cancel") this.#decodeInFlight.finish(requestId);
    return null;
  }

  tick(_instances: RouteRequest["instances"], nowMs: number): readonly [] {
    this.#predicted.sweep(nowMs);
    return [];
  }

  forgetInstance(name: string): void {
    this.#prefillInFlight.forgetInstance(name);
    this.#decodeInFlight.forgetInstance(name);
    this.#predicted.forgetInstance(name);
  }

  reset(): void {
    this.#prefillTurn.reset();
    this.#decodeTurn.reset();
    this.#prefillInFlight.reset();
    this.#decodeInFlight.reset();
    this.#predicted.reset();
  }

  #weigh(request: RouteRequest, keys: PromptKeyCache, count: InFlightCount): Decision {
    const { candidates, prefill, decode } = judge(request.instances, request.loadOf);
    this.#matches.regroup(request.matches);
    this.#scorePrefill(prefill, request, keys, count);
    this.#scoreDecode(decode, request.nowMs, count);
    const chosen = this.#prefillTurn.next(cheapest(prefill));
    if (chosen === null) return refuse(this.name, candidates);
    const decoding = this.#decodeTurn.next(cheapest(decode));
    return { kind: "placed", policy: this.name, prefill: chosen, decode: decoding, candidates, flip: null };
  }

  #scorePrefill(
    prefill: readonly CandidateDraft[],
    { tokens, nowMs }: RouteRequest,
    keys: PromptKeyCache,
    count: InFlightCount,
  ): void {
    for (const candidate of prefill) {
      candidate.inFlightRequests = countInFlight(this.#prefillInFlight, candidate, nowMs, count);
      candidate.hits = this.#hits(candidate, nowMs, keys);
      candidate.kvHitRatio = kvHitRatio(candidate.hits, tokens.length, this.#options);
    }
    setQueueCosts(prefill);
    for (const candidate of prefill) {
      candidate.score = prefillScore(candidate.kvHitRatio, candidate.queueCost, this.#options.prefillLambda);
    }
  }

  #scoreDecode(decode: readonly CandidateDraft[], nowMs: number, count: InFlightCount): void {
    for (const candidate of decode) candidate.inFlightRequests = countInFlight(this.#decodeInFlight, candidate, nowMs, count);
    setQueueCosts(decode);
    for (const candidate of decode) {
      candidate.score = decodeScore(candidate.load?.report.cacheUsage ?? 0, candidate.queueCost);
    }
  }

  /** Predictions add to what is measured: without a synchronized stream nobody is credited. */
  #hits({ instance: { registration } }: CandidateDraft, nowMs: number, keys: PromptKeyCache): PrefixHits {
    const matches = this.#matches.of(registration.name);
    const hits = measuredHits(registration, matches, this.#options);
    if (hits.uncredited !== null || !this.#predicted.has(registration.name)) return hits;
    const measured = measuredTokens(hits);
    const prompt = keys.of(matches[0].stream.blockSize);
    const predicted = this.#predicted.tokens(registration.name, prompt, measured, nowMs);
    return predicted === 0 ? hits : { ...hits, predictedTokens: predicted - measured };
  }

  #remember({ prefill, decode }: Placement, request: RouteRequest, keys: PromptKeyCache): void {
    this.#prefillTurn.take(prefill);
    this.#decodeTurn.take(decode);
    const { registration } = prefill.instance;
    if (this.#options.trackInFlight) {
      this.#prefillInFlight.send(request.requestId, registration.name, request.nowMs);
      if (decode !== null) this.#decodeInFlight.send(request.requestId, decode.instance.registration.name, request.nowMs);
    }
    const stream = this.#matches.of(registration.name).at(0)?.stream;
    // Of several ranks the prompt is on one only, and the others would count.
    if (stream === undefined || registration.dpSize > 1 || !this.#predicted.isEnabled) return;
    this.#predicted.record(registration.name, keys.of(stream.blockSize), request.nowMs);
  }
}

/** How what is in flight to an instance is counted; a preview only looks. */
type InFlightCount = (inFlight: InFlight, instanceName: string, reportedAtMs: number, nowMs: number) => number;

function countAndDrop(inFlight: InFlight, instanceName: string, reportedAtMs: number, nowMs: number): number {
  return inFlight.count(instanceName, reportedAtMs, nowMs);
}

function countInFlight(inFlight: InFlight, { instance, load }: CandidateDraft, nowMs: number, count: InFlightCount): number {
  return count(inFlight, instance.registration.name, nowMs - (load?.ageMs ?? 0), nowMs);
}

/** A prompt's keys, made once for each block size and only when they are asked for. */
class PromptKeyCache {
  readonly #request: RouteRequest;
  readonly #made = new Map<number, PromptKeys>();

  constructor(request: RouteRequest) {
    this.#request = request;
  }

  of(blockSize: number): PromptKeys {
    const known = this.#made.get(blockSize);
    if (known !== undefined) return known;
    const made = promptKeys(this.#request.tokens, blockSize, this.#request.namespace);
    this.#made.set(blockSize, made);
    return made;
  }
}

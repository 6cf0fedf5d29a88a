/** What every policy is: it decides where a request goes, hears how the request fares, and keeps its own books. */

import type { LoadBalancePolicy, Namespace, StreamMatch } from "#domain";
import type { Instance } from "#fleet";
import type { Decision, Flip } from "../decision.ts";
import type { LoadOf } from "../eligibility.ts";
import type { RequestStep } from "../request-step.ts";

export interface RouteRequest {
  /** A request of the same id that went out before is over with this decision: a client that tries again counts once. */
  requestId: string;
  /** The prompt; read during the decision only. Empty when the prompt was not tokenized. */
  tokens: Uint32Array;
  /** Under which the prompt was matched. */
  namespace: Namespace | null;
  /** The directory's answer for this prompt, in any order; empty when there is none: nobody is credited then. */
  matches: readonly StreamMatch[];
  /** The fleet, in name order. */
  instances: readonly Instance[];
  loadOf: LoadOf;
  /** The fleet's clock; never goes back. */
  nowMs: number;
}

export interface PolicyCounts {
  /** Requests let go for want of room, or because nothing was heard of them for too long. */
  forgottenRequests: number;
  /** Steps of requests that are not in the books. */
  unknownSteps: number;
}

/** Of the books, now. */
export interface PolicyBooks {
  /** Requests that were sent to instances and are not known to be over, by the side that they occupy. */
  prefillRequests: number;
  decodeRequests: number;
  /** Prefixes that instances are credited with before they announce them. */
  predictedPrefixes: number;
}

export interface Policy {
  readonly name: LoadBalancePolicy;
  /** Whether an instance needs a known load to serve. */
  readonly needsLoads: boolean;
  /** Whether the directory's answer makes a difference; else it need not be asked. */
  readonly needsMatches: boolean;
  readonly counts: Readonly<PolicyCounts>;
  readonly books: Readonly<PolicyBooks>;
  /** A decision follows from the request and from the decisions and steps before it. It waits for nothing. */
  decide(request: RouteRequest): Decision;
  /** What `decide` would answer, and nothing else: no later decision comes out otherwise because of it. */
  preview(request: RouteRequest): Decision;
  /** False where every request under way is in the books, and this one is not. */
  knows(requestId: string): boolean;
  /**
   * Takes note of a step, `generate` of so many tokens (1 unless it is said otherwise); a flip that follows from it is for the
   * fleet to perform. A step of a request that is not in the books changes nothing.
   */
  step(requestId: string, step: RequestStep, instances: readonly Instance[], nowMs: number, tokenCount?: number): Flip | null;
  /** Called about once a second: lets go of what has run out of time. */
  tick(instances: readonly Instance[], nowMs: number): readonly Flip[];
  /** The instance is gone: its requests are over, and one of the same name begins with nothing. */
  forgetInstance(name: string): void;
  /** As newly made. */
  reset(): void;
}

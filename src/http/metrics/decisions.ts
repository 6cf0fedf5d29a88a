/** Counts decisions as they are made. Costs about a microsecond each. */

import type { Counter } from "prom-client";
import { LOAD_BALANCE_POLICIES, type LoadBalancePolicy } from "#domain";
import { METRICS, type MetricsRegistry } from "#metrics";
import { type Candidate, type DecisionObserver, type PrefixHits, REFUSAL_KINDS, type RefusalKind, refusalKind } from "#routing";

const OUTCOMES = ["placed", "index-busy", ...REFUSAL_KINDS] as const;

type Outcome = "placed" | "index-busy" | RefusalKind;

/** `policy` is the one that is configured: it is named where no decision names another. */
export function observeDecisions(metrics: MetricsRegistry, policy: LoadBalancePolicy): DecisionObserver {
  const counters = countersOf(metrics);
  const duration = metrics.histogram(METRICS.decisionDuration);
  const hitRatio = metrics.histogram(METRICS.hitRatio);
  const scoreMargin = metrics.histogram(METRICS.scoreMargin);
  for (const outcome of OUTCOMES) counters[policy][outcome].inc(0); // no series begins with its first increase
  const count = (decider: LoadBalancePolicy, outcome: Outcome) => counters[decider][outcome].inc();

  return (decision, { tokenCount }, durationMs) => {
    duration.observe(durationMs / 1000);
    if (decision === "busy") return count(policy, "index-busy");
    if (decision.kind === "refused") return count(decision.policy, refusalKind(decision.candidates));
    count(decision.policy, "placed");
    const { hits } = decision.prefill;
    if (decision.policy !== "CAR" || hits === null) return;
    if (tokenCount > 0) hitRatio.observe(heldTokens(hits) / tokenCount);
    const margin = marginOf(decision.prefill, decision.candidates);
    if (margin !== null) scoreMargin.observe(margin);
  };
}

type Child = Pick<Counter.Internal, "inc">;

function countersOf(metrics: MetricsRegistry): Record<LoadBalancePolicy, Record<Outcome, Child>> {
  const counter = metrics.counter(METRICS.decisions);
  const ofPolicy = (policy: LoadBalancePolicy) =>
    Object.fromEntries(OUTCOMES.map((outcome) => [outcome, counter.labels({ policy, outcome })])) as Record<Outcome, Child>;
  return Object.fromEntries(LOAD_BALANCE_POLICIES.map((policy) => [policy, ofPolicy(policy)])) as Record<
    LoadBalancePolicy,
    Record<Outcome, Child>
  >;
}

function heldTokens({ deviceTokens, hostOnlyTokens, diskOnlyTokens, predictedTokens }: PrefixHits): number {
  return deviceTokens + hostOnlyTokens + diskOnlyTokens + predictedTokens;
}

/** From the chosen candidate's score to the next one's of its side; null where there was no other to choose. */
function marginOf(chosen: Candidate, candidates: readonly Candidate[]): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (candidate === chosen || candidate.side !== chosen.side || candidate.score === null) continue;
    if (candidate.excluded === null && candidate.score < next) next = candidate.score;
  }
  return chosen.score === null || next === Number.POSITIVE_INFINITY ? null : next - chosen.score;
}

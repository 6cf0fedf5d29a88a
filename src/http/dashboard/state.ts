/** From what the fleet, the router and the decision log know to one message of the live feed. */

import type { Candidate } from "#routing";
import type { AppDependencies } from "../dependencies.ts";
import { describeInstances } from "../instances/answer.ts";
import { Problem } from "../problem.ts";
import { describeCandidate } from "../route/answer.ts";
import { type LoggedDecision, SAMPLE_MS } from "./decision-log.ts";
import type { DashboardMessage, DecisionEntry } from "./message.ts";

/** Of one decision: the chosen, and enough others to see by how much they lost. */
const CANDIDATES_LISTED_MAX = 16;

/** Of one second: beyond what anybody reads as it passes. */
const NEW_DECISIONS_MAX = 20;

/** How far a reader of the feed has come. */
export interface FeedPosition {
  /** Milliseconds since 1970; of the newest sample that was sent. */
  sampleMs: number;
  /** Of the last decision that was sent. */
  decisionNumber: number;
}

/** Everything that is kept. */
export function describeAll(sources: AppDependencies): DashboardMessage {
  const { decisionLog } = sources;
  return describe(sources, decisionLog.samplesFrom(0), decisionLog.decisionsAfter(0));
}

/** What is new since `position`; of many new decisions the last ones. */
export function describeNews(sources: AppDependencies, { sampleMs, decisionNumber }: FeedPosition): DashboardMessage {
  const { decisionLog } = sources;
  const decisions = decisionLog.decisionsAfter(decisionNumber).slice(-NEW_DECISIONS_MAX);
  return describe(sources, decisionLog.samplesFrom(sampleMs), decisions);
}

/** The position of a reader who has been told everything by now. The sample of this moment still grows: it is sent again. */
export function positionNow({ decisionLog }: AppDependencies): FeedPosition {
  return { sampleMs: decisionLog.nowMs - SAMPLE_MS, decisionNumber: decisionLog.lastNumber };
}

function describe(sources: AppDependencies, samples: DashboardMessage["samples"], decisions: LoggedDecision[]): DashboardMessage {
  return {
    at_ms: sources.decisionLog.nowMs,
    policy: sources.policy,
    max_blocks_per_stream: sources.maxBlocksPerStream,
    unready: sources.readiness.notServing()?.reasons ?? null,
    fleet: fleetUnlessBusy(sources),
    samples,
    decisions: decisions.map(describeDecision),
  };
}

function fleetUnlessBusy(sources: AppDependencies): DashboardMessage["fleet"] {
  try {
    return describeInstances(sources);
  } catch (error) {
    if (error instanceof Problem && error.kind === "busy") return null;
    throw error;
  }
}

function describeDecision({ number, atMs, requestId, tokenCount, decision }: LoggedDecision): DecisionEntry {
  const isPlaced = decision.kind === "placed";
  const chosen = isPlaced ? [decision.prefill, ...(decision.decode === null ? [] : [decision.decode])] : [];
  const others = decision.candidates.filter((candidate) => !chosen.includes(candidate)).sort(byScore);
  const listed = [...chosen, ...others].slice(0, CANDIDATES_LISTED_MAX);
  return {
    number,
    at_ms: atMs,
    request_id: requestId,
    prompt_tokens: tokenCount,
    policy: decision.policy,
    prefill: isPlaced ? decision.prefill.instance.registration.name : null,
    decode: isPlaced ? (decision.decode?.instance.registration.name ?? null) : null,
    refused: isPlaced ? null : decision.reason,
    candidates: listed.map(describeCandidate),
    candidates_left_out: chosen.length + others.length - listed.length,
  };
}

/** Those that may not serve come last. */
function byScore(left: Candidate, right: Candidate): number {
  if ((left.excluded === null) !== (right.excluded === null)) return left.excluded === null ? -1 : 1;
  return (left.score ?? 0) - (right.score ?? 0);
}

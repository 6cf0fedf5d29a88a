/** From a decision of the router to what a client reads. */

import { type Candidate, describeExclusion, describeUncredited, type Placement, type Refused } from "#routing";
import { Problem } from "../problem.ts";
import type { CandidateAnswer, ChosenAnswer, DecisionAnswer } from "./schema.ts";

/** Reasons of instances in one refusal: enough to see what is wrong with a fleet. */
const REASONS_MAX = 16;

/** The next load report or registration may change it. */
const RETRY_AFTER_SECONDS = 1;

/** With `isExplained` every candidate is listed. */
export function describePlacement(placement: Placement, requestId: string, isExplained: boolean): DecisionAnswer {
  const { policy, prefill, decode, candidates, flip } = placement;
  return {
    policy,
    request_id: requestId,
    prefill: describeChosen(prefill),
    decode: decode && describeChosen(decode),
    ...(isExplained && { candidates: candidates.map(describeCandidate) }),
    flip: flip && { instance_name: flip.name, to: flip.to },
  };
}

/** The 503 problem of a request that can go nowhere; its errors say of the first instances why each may not serve. */
export function nowhereToGo({ reason, candidates }: Refused): Problem {
  const errors: { detail: string }[] = [];
  for (const { instance, excluded } of candidates) {
    if (errors.length === REASONS_MAX) break;
    if (excluded === null) continue;
    errors.push({ detail: `instance ${JSON.stringify(instance.registration.name)}: ${describeExclusion(excluded)}` });
  }
  return new Problem("no-instance", {
    detail: `Cannot route the request: ${reason}`,
    errors,
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}

function describeChosen({ instance: { registration }, kvHitRatio, queueCost, score }: Candidate): ChosenAnswer {
  return {
    instance_name: registration.name,
    address: registration.address,
    kv_hit_ratio: kvHitRatio,
    queue_cost: queueCost,
    score,
  };
}

/** Its numbers, and why it may not serve or gets no credit. */
export function describeCandidate(candidate: Candidate): CandidateAnswer {
  const { instance, hits, load, excluded } = candidate;
  const uncredited = hits?.uncredited ?? null;
  return {
    instance_name: instance.registration.name,
    role: instance.registration.role,
    current_role: instance.currentRole,
    side: candidate.side,
    kv_hit_ratio: candidate.kvHitRatio,
    device_hit_tokens: hits?.deviceTokens ?? 0,
    host_only_hit_tokens: hits?.hostOnlyTokens ?? 0,
    disk_only_hit_tokens: hits?.diskOnlyTokens ?? 0,
    predicted_hit_tokens: hits?.predictedTokens ?? 0,
    waiting_requests: load?.report.waitingRequests ?? null,
    in_flight_requests: candidate.inFlightRequests,
    gpu_cache_usage_perc: load?.report.cacheUsage ?? null,
    queue_cost: candidate.queueCost,
    score: candidate.score,
    excluded: excluded && describeExclusion(excluded),
    uncredited: uncredited && describeUncredited(uncredited),
  };
}

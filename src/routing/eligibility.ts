/** Who may serve, and on which side. An instance that may not keeps its place among the candidates, with the reason. */

import type { Instance } from "#fleet";
import type { CandidateDraft, CurrentLoad, Exclusion, Side } from "./candidate.ts";

/** Tells an instance's load at the moment of the decision. */
export type LoadOf = (instance: Instance) => CurrentLoad;

export interface Contest {
  /** All instances, in the order given. */
  candidates: readonly CandidateDraft[];
  /** Those that may serve, by side, in the same order. */
  prefill: CandidateDraft[];
  decode: CandidateDraft[];
}

const SUSPECT: Exclusion = { reason: "suspect" };
const NEEDS_DECODE: Exclusion = { reason: "needs-decode" };

/** DEFAULT, PREFILL and a MIX as PREFILL prefill; DECODE and a MIX as DECODE decode. */
function sideOf(instance: Instance): Side {
  return instance.currentRole === "DECODE" ? "decode" : "prefill";
}

/**
 * Sorts the instances into sides. With `loadOf` an instance needs a known load (CAR); null: loads are not looked at. Where no
 * instance may decode, only those in role DEFAULT may serve, alone.
 */
export function judge(instances: readonly Instance[], loadOf: LoadOf | null): Contest {
  const candidates: CandidateDraft[] = [];
  const prefill: CandidateDraft[] = [];
  const decode: CandidateDraft[] = [];
  for (const instance of instances) {
    const candidate = draft(instance, loadOf);
    candidates.push(candidate);
    if (candidate.excluded === null) (candidate.side === "decode" ? decode : prefill).push(candidate);
  }
  if (decode.length > 0) return { candidates, prefill, decode };
  for (const candidate of prefill) if (!servesAlone(candidate)) candidate.excluded = NEEDS_DECODE;
  return { candidates, prefill: prefill.filter(servesAlone), decode };
}

function draft(instance: Instance, loadOf: LoadOf | null): CandidateDraft {
  const isSuspect = instance.state === "SUSPECT";
  const load = isSuspect || loadOf === null ? null : loadOf(instance);
  const isUnknown = load?.kind === "unknown";
  return {
    instance,
    side: sideOf(instance),
    excluded: isSuspect ? SUSPECT : isUnknown ? { reason: "load-unknown", detail: load.reason } : null,
    load: isUnknown ? null : load,
    inFlightRequests: 0,
    hits: null,
    kvHitRatio: 0,
    queueCost: 0,
    score: null,
  };
}

function servesAlone({ instance }: CandidateDraft): boolean {
  return instance.currentRole === "DEFAULT";
}

/** What a policy answers: where a request goes, or why it can go nowhere. Both list every candidate with its numbers. */

import type { LoadBalancePolicy } from "#domain";
import type { Candidate, ExclusionReason, Side } from "./candidate.ts";

/** A MIX instance is to work on the other side from now on; the fleet performs it. */
export interface Flip {
  name: string;
  to: "PREFILL" | "DECODE";
}

export type Decision = Placement | Refused;

export interface Placement {
  kind: "placed";
  /** Who decided: SLO_AWARE leaves what it cannot estimate to RR. */
  policy: LoadBalancePolicy;
  /** Under SLO_AWARE this may be an instance of the decode side. */
  prefill: Candidate;
  /** Null: the prefill instance serves alone. */
  decode: Candidate | null;
  /** In name order. */
  candidates: readonly Candidate[];
  flip: Flip | null;
}

export interface Refused {
  kind: "refused";
  policy: LoadBalancePolicy;
  /** A sentence for the person on call. */
  reason: string;
  candidates: readonly Candidate[];
}

/** The refusal of a request for which no instance may prefill. */
export function refuse(policy: LoadBalancePolicy, candidates: readonly Candidate[]): Refused {
  return { kind: "refused", policy, reason: refusalReason(candidates), candidates };
}

const COUNTED: Readonly<Record<ExclusionReason, string>> = {
  suspect: "SUSPECT",
  "load-unknown": "without a known load",
  "needs-decode": "in need of a decode instance",
};

/** `no prefill candidate: 2 SUSPECT, 1 in need of a decode instance; no decode candidate: 1 SUSPECT`. */
export function refusalReason(candidates: readonly Candidate[]): string {
  if (candidates.length === 0) return "no prefill candidate: no instance is registered";
  const prefill = `no prefill candidate: ${exclusionCounts(candidates, "prefill")}`;
  const isDecodeWanted = candidates.some(({ excluded }) => excluded?.reason === "needs-decode");
  return isDecodeWanted ? `${prefill}; no decode candidate: ${exclusionCounts(candidates, "decode")}` : prefill;
}

/** In one word why a request was refused: what excludes all of the prefill side, "mixed" where it is not one thing. */
export const REFUSAL_KINDS = ["no-instance", "no-prefill-side", "suspect", "load-unknown", "needs-decode", "mixed"] as const;

export type RefusalKind = (typeof REFUSAL_KINDS)[number];

export function refusalKind(candidates: readonly Candidate[]): RefusalKind {
  if (candidates.length === 0) return "no-instance";
  const found = new Set<RefusalKind>();
  for (const { side, excluded } of candidates) if (side === "prefill" && excluded !== null) found.add(excluded.reason);
  if (found.size > 1) return "mixed";
  return [...found][0] ?? "no-prefill-side";
}

function exclusionCounts(candidates: readonly Candidate[], side: Side): string {
  const counts = new Map<ExclusionReason, number>();
  for (const candidate of candidates) {
    if (candidate.side !== side || candidate.excluded === null) continue;
    counts.set(candidate.excluded.reason, (counts.get(candidate.excluded.reason) ?? 0) + 1);
  }
  if (counts.size === 0) return `no instance works on the ${side} side`;
  return [...counts].map(([reason, count]) => `${count} ${COUNTED[reason]}`).join(", ");
}

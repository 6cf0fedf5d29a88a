/** Decisions as a policy makes them, with what tests of the dashboard look at. */

import type { Candidate, Placement, Refused } from "#routing";
import { instance } from "../../routing/scene.ts";

export interface CandidateShape {
  name: string;
  device?: number;
  hostOnly?: number;
  diskOnly?: number;
  score?: number;
  /** The policy has not looked at hits. */
  isUnmatched?: boolean;
  isExcluded?: boolean;
}

/** A placement on the first of these. */
export function placed(shapes: readonly CandidateShape[]): Placement {
  const candidates = shapes.map(candidate);
  const [prefill] = candidates;
  if (prefill === undefined) throw new Error("Cannot place a request on nobody");
  return { kind: "placed", policy: "CAR", prefill, decode: null, candidates, flip: null };
}

export function refused(shapes: readonly CandidateShape[]): Refused {
  return { kind: "refused", policy: "CAR", reason: "no prefill candidate: 1 SUSPECT", candidates: shapes.map(candidate) };
}

function candidate({ name, device = 0, hostOnly = 0, diskOnly = 0, score = 0, ...rest }: CandidateShape): Candidate {
  return {
    instance: instance(name),
    side: "prefill",
    excluded: rest.isExcluded ? { reason: "suspect" } : null,
    load: null,
    inFlightRequests: 0,
    hits: rest.isUnmatched
      ? null
      : { deviceTokens: device, hostOnlyTokens: hostOnly, diskOnlyTokens: diskOnly, predictedTokens: 0, uncredited: null },
    kvHitRatio: 0,
    queueCost: 0,
    score,
  };
}

/** Whose turn it is among equals: the first in name order after the last one chosen. Nobody's turn is lost when the fleet changes. */

import type { Candidate, CandidateDraft } from "../candidate.ts";

/** Scores this near are equal: they come from the same loads and hits, added up in another order. */
const SCORE_TOLERANCE = 1e-12;

export class Rotation {
  #lastName: string | null = null;

  /** The next of the candidates, which are in name order; null when there are none. It has its turn with `take`. */
  next<Member extends Candidate>(candidates: readonly Member[]): Member | null {
    return candidates.find((candidate) => this.#isLater(candidate)) ?? candidates.at(0) ?? null;
  }

  /** The candidate has had its turn; null: nobody has. */
  take(candidate: Candidate | null): void {
    if (candidate !== null) this.#lastName = candidate.instance.registration.name;
  }

  reset(): void {
    this.#lastName = null;
  }

  #isLater({ instance }: Candidate): boolean {
    return this.#lastName === null || instance.registration.name > this.#lastName;
  }
}

/** Those with the least score, in the order given. All must have one. */
export function cheapest(candidates: readonly CandidateDraft[]): CandidateDraft[] {
  let least = Number.POSITIVE_INFINITY;
  for (const { score } of candidates) least = Math.min(least, score ?? Number.POSITIVE_INFINITY);
  return candidates.filter(({ score }) => score !== null && score <= least + SCORE_TOLERANCE);
}

/** Bodies of answers, typed as the contract says. */

import type { Static } from "@sinclair/typebox";
import type { ProblemDocument } from "../../src/http/problem.ts";
import type { queryAnswer } from "../../src/http/query/schema.ts";

export async function readProblem(response: Response): Promise<ProblemDocument> {
  return (await response.json()) as ProblemDocument;
}

export async function readMatches(response: Response): Promise<Static<typeof queryAnswer>["matches"]> {
  return ((await response.json()) as Static<typeof queryAnswer>).matches;
}

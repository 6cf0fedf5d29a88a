/** Runs what must refuse, and gives the refusal as the document that a client reads. */

import { Problem, type ProblemDocument } from "../../src/http/problem.ts";

export function caughtProblem(run: () => unknown): ProblemDocument {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error.toDocument();
    throw error;
  }
  throw new Error("Nothing was refused");
}

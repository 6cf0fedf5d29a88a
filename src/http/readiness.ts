/** The refusal of a service that cannot answer yet, or serve. */

import type { Readiness } from "./dependencies.ts";
import { Problem, type ProblemKind } from "./problem.ts";

/** The start is over in seconds: the interval of the first refresh, then a snapshot. */
const RETRY_AFTER_SECONDS = 1;

/** Throws a 503 problem with every reason, if there are any; `what` is what cannot be done. */
export function requireReady(reasons: string[] | null, what: string): void {
  if (reasons !== null) throw unavailable("not-ready", `Cannot ${what} yet`, reasons);
}

/** Throws a 503 problem with every reason while this process cannot do what it is there for. */
export function requireServing(readiness: Readiness): void {
  const unready = readiness.notServing();
  if (unready !== null) throw unavailable(unready.kind, "Cannot serve", unready.reasons);
}

function unavailable(kind: ProblemKind, failed: string, reasons: string[]): Problem {
  return new Problem(kind, {
    detail: `${failed}: ${reasons.join("; ")}`,
    errors: reasons.map((detail) => ({ detail })),
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}

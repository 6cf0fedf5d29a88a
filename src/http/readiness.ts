/** The refusal of a directory that cannot answer yet. */

import type { Readiness } from "./dependencies.ts";
import { Problem } from "./problem.ts";

/** The start is over in seconds: the interval of the first refresh, then a snapshot. */
const RETRY_AFTER_SECONDS = 1;

/** Throws a 503 problem with every reason while queries cannot be answered. */
export function requireReady(readiness: Readiness): void {
  const reasons = readiness.notReady();
  if (reasons === null) return;
  throw new Problem("not-ready", {
    detail: `Cannot answer queries yet: ${reasons.join("; ")}`,
    errors: reasons.map((detail) => ({ detail })),
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}

/** Turns what a request threw into a problem: a known one as it is, a path or method without a route, anything else as 500. */

import type { Logger } from "#base";
import { excerpt, Problem } from "./problem.ts";

interface FailedRequest {
  method: string;
  path: string;
  requestId: string;
}

/** The problem in `error`; an unexpected one is logged with its stack and named to the client by request id alone. */
export function problemOf(error: unknown, { method, path, requestId }: FailedRequest, logger: Logger): Problem {
  if (error instanceof Problem) return error;
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  logger.error("Request failed unexpectedly", { request_id: requestId, method, path, cause });
  return new Problem("internal-error", {
    detail: `Cannot answer the request: an unexpected error, the log has its cause under request id ${JSON.stringify(requestId)}`,
  });
}

/** 405 with the methods that `routes` has for the path, 404 when it has none. */
export function unroutedProblem({ method, path }: FailedRequest, routes: { method: string; path: string }[]): Problem {
  const methods = routes.filter((route) => isPathOf(route.path, path)).map((route) => route.method);
  if (methods.length === 0) return new Problem("not-found", { detail: `Cannot find ${excerpt(path)}: there is no such path` });
  const allow = methods.join(", ");
  return new Problem("method-not-allowed", {
    detail: `Cannot ${method} ${excerpt(path)}: the method is not supported, allowed are ${allow}`,
    headers: { allow },
  });
}

/** Whether `path` is one of the paths of `pattern`, such as `/v1/instances/:name`: any segment but an empty one is a parameter's value. */
function isPathOf(pattern: string, path: string): boolean {
  const segments = path.split("/");
  const wanted = pattern.split("/");
  // The router takes a slash at the end as if it were not there.
  if (segments.length > 2 && segments.at(-1) === "") segments.pop();
  return (
    segments.length === wanted.length &&
    wanted.every((segment, position) => (segment.startsWith(":") ? segments[position] !== "" : segment === segments[position]))
  );
}

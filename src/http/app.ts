/** The whole HTTP door as one Elysia app: what holds for every request first, then a room per feature. */

import { Elysia, NotFoundError } from "elysia";
import { assert } from "#base";
import { TOKENS_MAX } from "#domain";
import type { AppDependencies } from "./dependencies.ts";
import { problemOf, unroutedProblem } from "./error-answer.ts";
import { createHealthRoutes } from "./health/mod.ts";
import { createHeartbeatRoutes } from "./heartbeat/mod.ts";
import { createInstanceRoutes } from "./instances/mod.ts";
import { createMetricsRoutes } from "./metrics/mod.ts";
import { createQueryRoutes } from "./query/mod.ts";
import { REQUEST_ID_HEADER, requestId } from "./request-id.ts";

/** Builds the app; it answers through `handle` at once, and on a port through `listen`. */
export function createApp(dependencies: AppDependencies) {
  assert(dependencies.directory.tokens.length === TOKENS_MAX, `token memory holds ${TOKENS_MAX} tokens`);
  // The path is sought behind "http://", not at character 11: a host of one letter is a host too.
  const app = new Elysia({ handler: { standardHostname: false } })
    .onRequest(({ request, set }) => {
      set.headers[REQUEST_ID_HEADER] = requestId(request.headers);
    })
    .onError(({ error, request, path, set }) => {
      const failed = { method: request.method, path, requestId: String(set.headers[REQUEST_ID_HEADER]) };
      const isUnrouted = error instanceof NotFoundError;
      const problem = isUnrouted ? unroutedProblem(failed, app.routes) : problemOf(error, failed, dependencies.logger);
      return problem.toResponse();
    })
    .use(createHealthRoutes(dependencies))
    .use(createMetricsRoutes(dependencies))
    .use(createQueryRoutes(dependencies))
    .use(createInstanceRoutes(dependencies))
    .use(createHeartbeatRoutes(dependencies));
  return app;
}

export type App = ReturnType<typeof createApp>;

/** The whole HTTP door as one Elysia app: what holds for every request first, then a room per feature. */

import { Elysia, NotFoundError } from "elysia";
import { assert } from "#base";
import { TOKENS_MAX } from "#domain";
import { BodyBudget } from "./body-budget.ts";
import { createDashboardRoutes } from "./dashboard/mod.ts";
import type { AppDependencies } from "./dependencies.ts";
import { problemOf, unroutedProblem } from "./error-answer.ts";
import { createHealthRoutes } from "./health/mod.ts";
import { createHeartbeatRoutes } from "./heartbeat/mod.ts";
import { createInstanceRoutes } from "./instances/mod.ts";
import { PROMPT_BODIES_BYTES_MAX } from "./limits.ts";
import { createMetricsRoutes, meterRequests, RequestMeter } from "./metrics/mod.ts";
import { createOpenApiRoutes } from "./openapi/mod.ts";
import { createQueryRoutes } from "./query/mod.ts";
import { REQUEST_ID_HEADER, requestId } from "./request-id.ts";
import { createRouteRoutes } from "./route/mod.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";

/** Builds the app; it answers through `handle` at once, and on a port through `listen`. */
export function createApp(dependencies: AppDependencies) {
  assert(dependencies.directory.tokens.length === TOKENS_MAX, `token memory holds ${TOKENS_MAX} tokens`);
  const promptBodies = new BodyBudget(PROMPT_BODIES_BYTES_MAX);
  const meter = new RequestMeter(dependencies.metrics);
  // The path is sought behind "http://", not at character 11: a host of one letter is a host too.
  const app = new Elysia({ handler: { standardHostname: false } })
    .use(meterRequests(meter))
    .onRequest(({ request, set }) => {
      Object.assign(set.headers, SECURITY_HEADERS);
      set.headers[REQUEST_ID_HEADER] = requestId(request.headers);
    })
    .onError(({ error, request, path, set }) => {
      const failed = { method: request.method, path, requestId: String(set.headers[REQUEST_ID_HEADER]) };
      const isUnrouted = error instanceof NotFoundError;
      const problem = isUnrouted ? unroutedProblem(failed, app.routes) : problemOf(error, failed, dependencies.logger);
      const response = problem.toResponse();
      if (isUnrouted) meter.answered(request, undefined, response.status);
      return response;
    })
    .use(createHealthRoutes(dependencies))
    .use(createMetricsRoutes(dependencies))
    .use(createQueryRoutes({ ...dependencies, promptBodies }))
    .use(createRouteRoutes({ ...dependencies, promptBodies }))
    .use(createInstanceRoutes(dependencies))
    .use(createHeartbeatRoutes(dependencies))
    .use(createDashboardRoutes(dependencies));
  // The same app, whose routes the document lists: these too.
  return app.use(createOpenApiRoutes(app, dependencies.internalApiToken));
}

export type App = ReturnType<typeof createApp>;

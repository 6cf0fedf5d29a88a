/** `POST /v1/route`: which instance a request should go to; and how it fares there. */

import { Elysia } from "elysia";
import type { PromptDependencies } from "../dependencies.ts";
import { createInternalTokenCheck } from "../internal-token.ts";
import { createJsonReceiver, requireJson } from "../json-body.ts";
import { STEP_BYTES_MAX } from "../limits.ts";
import { requireReady } from "../readiness.ts";
import { REQUEST_ID_HEADER } from "../request-id.ts";
import { receiveTokenBody } from "../token-body/mod.ts";
import { decide } from "./decide.ts";
import { routeRequest, routeResponses } from "./schema.ts";
import { noteStep } from "./step.ts";
import { stepRequest, stepResponses } from "./step-schema.ts";

/** Both need the token: one reads prompts, both change the router's books. */
export function createRouteRoutes({ directory, promptBodies, router, readiness, internalApiToken }: PromptDependencies) {
  const checkToken = createInternalTokenCheck(internalApiToken);
  const receiveStep = createJsonReceiver(STEP_BYTES_MAX);

  return new Elysia({ prefix: "/v1/route", tags: ["route"] })
    .onBeforeHandle(({ request }) => checkToken(request.headers))
    .post(
      "",
      async ({ request, set }) => {
        const requestId = String(set.headers[REQUEST_ID_HEADER]);
        return decide(await receiveTokenBody(request, promptBodies), requestId, { directory, router });
      },
      {
        beforeHandle: () => requireReady(readiness.notRouting(), "route requests"),
        parse: "none",
        body: routeRequest,
        response: routeResponses,
        detail: {
          summary: "The instance that a request should go to",
          description:
            "The body is JSON, MessagePack (token_ids an array, or a bin of u32 little-endian), or application/octet-stream: the " +
            "tokens alone as u32 little-endian, the other fields but extra_keys as query parameters. JSON and MessagePack bodies " +
            "may bring several prompts under requests.",
        },
      },
    )
    .post(
      "/:id/finished",
      async ({ params, request, set }) => {
        requireJson(request.headers);
        noteStep(params.id, await receiveStep(request), router);
        set.status = 204;
      },
      {
        parse: "none",
        body: stepRequest,
        response: stepResponses,
        detail: { summary: "A request that was routed has come so far" },
      },
    );
}

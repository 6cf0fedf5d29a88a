/** `POST /v1/internal/heartbeat`: an instance says that it lives, and how busy it is. */

import { Elysia } from "elysia";
import type { Heartbeat } from "#fleet";
import type { AppDependencies, Registrations } from "../dependencies.ts";
import { createInternalTokenCheck } from "../internal-token.ts";
import { createJsonReceiver } from "../json-body.ts";
import { HEARTBEAT_BYTES_MAX } from "../limits.ts";
import { Problem, type ProblemKind } from "../problem.ts";
import { decodeHeartbeat } from "./decode.ts";
import { heartbeatRequest, heartbeatResponses } from "./schema.ts";

/** What xLLM service says of these problems, unless the problem knows better. */
const XLLM_ERRORS: Partial<Record<ProblemKind, string>> = {
  "malformed-body": "invalid heartbeat json",
  "token-required": "invalid internal token",
  conflict: "instance not registered or stale incarnation",
};

export function createHeartbeatRoutes({ registrations, internalApiToken }: AppDependencies) {
  const checkToken = createInternalTokenCheck(internalApiToken);
  const receive = createJsonReceiver(HEARTBEAT_BYTES_MAX);
  return new Elysia({ prefix: "/v1/internal", tags: ["instances"] }).post(
    "/heartbeat",
    async ({ request }) => {
      try {
        checkToken(request.headers);
        acceptHeartbeat(registrations, decodeHeartbeat(await receive(request)));
        return { ok: true as const };
      } catch (error) {
        const words = error instanceof Problem ? XLLM_ERRORS[error.kind] : undefined;
        throw error instanceof Problem && words !== undefined ? error.inXllmWords(words) : error;
      }
    },
    {
      parse: "none",
      body: heartbeatRequest,
      response: heartbeatResponses,
      detail: { summary: "An instance lives, and how busy it is", description: "JSON, whatever the content type." },
    },
  );
}

/** Throws a 409 problem when the heartbeat is of no process that is registered. */
function acceptHeartbeat(registrations: Registrations, heartbeat: Heartbeat): void {
  const outcome = registrations.heartbeat(heartbeat);
  if (outcome === "accepted") return;
  const what =
    outcome === "not-registered"
      ? "it is not registered"
      : `its incarnation ${JSON.stringify(heartbeat.incarnation)} is not the one that is registered`;
  throw new Problem("conflict", {
    detail: `Cannot accept the heartbeat of instance ${JSON.stringify(heartbeat.name)}: ${what}, its registration is needed first`,
  });
}

/** `POST /v1/internal/kv-cache/query`: who holds how much of this prompt. */

import { Elysia } from "elysia";
import type { PromptDependencies } from "../dependencies.ts";
import { createFieldsCheck } from "../fields.ts";
import { createInternalTokenCheck } from "../internal-token.ts";
import { indexBusy } from "../problem.ts";
import { promptNamespace } from "../prompt-namespace.ts";
import { requireReady } from "../readiness.ts";
import { decodeTokenBody, type ReceivedBody, receiveTokenBody } from "../token-body/mod.ts";
import { describeMatches } from "./answer.ts";
import { type InstanceMatch, queryFields, queryRequest, queryResponses } from "./schema.ts";

const checkFields = createFieldsCheck(queryFields, ["token_ids"]);

/** The route with its checks in the order of their cost: token, readiness, headers, body. */
export function createQueryRoutes({ directory, promptBodies, readiness, internalApiToken }: PromptDependencies) {
  const checkToken = createInternalTokenCheck(internalApiToken);

  /** Runs without a pause between writing the tokens and matching them, since the token memory is shared by all requests. */
  function answer(body: ReceivedBody): InstanceMatch[] {
    const { tokenCount, fields } = decodeTokenBody(body, directory.tokens);
    const { instance_names: names, ...namespaceFields } = checkFields(fields);
    const instanceNames = names === undefined ? null : new Set(names);
    const matches = directory.match(tokenCount, instanceNames, promptNamespace(namespaceFields));
    if (matches === "busy") throw indexBusy("match the prompt");
    return describeMatches(matches);
  }

  return new Elysia({ prefix: "/v1/internal/kv-cache", tags: ["kv-cache"] })
    .onBeforeHandle(({ request }) => {
      checkToken(request.headers);
      requireReady(readiness.notReady(), "answer queries");
    })
    .post("/query", async ({ request }) => ({ matches: answer(await receiveTokenBody(request, promptBodies)) }), {
      parse: "none",
      body: queryRequest,
      response: queryResponses,
      detail: {
        summary: "Cached prefix of a prompt per instance and rank",
        description:
          "The body is JSON, MessagePack (token_ids an array, or a bin of u32 little-endian), or application/octet-stream: the " +
          "tokens alone as u32 little-endian, the other fields but extra_keys as query parameters.",
      },
    });
}

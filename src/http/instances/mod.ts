/** `/v1/instances`: engines register and leave, and an operator sees each with its state, its load and its streams. */

import { Type } from "@sinclair/typebox";
import { Elysia, t } from "elysia";
import type { AppDependencies } from "../dependencies.ts";
import { createFieldsCheck } from "../fields.ts";
import { createInternalTokenCheck } from "../internal-token.ts";
import { createJsonReceiver, requireJson } from "../json-body.ts";
import { REGISTRATION_BYTES_MAX } from "../limits.ts";
import { describeInstances, describeNamed } from "./answer.ts";
import { requireDeregistered, requireRegistered } from "./outcome.ts";
import { readRegistration } from "./registration.ts";
import { registrationRequest } from "./registration-schema.ts";
import { deregisterResponses, instanceResponses, listResponses, registerResponses } from "./schema.ts";

const deregisterQuery = Type.Object(
  { incarnation_id: Type.Optional(Type.String({ description: "Only this process is deleted" })) },
  { additionalProperties: false },
);

const checkQuery = createFieldsCheck(deregisterQuery, []);

/** Only what changes something needs the token. */
export function createInstanceRoutes(dependencies: AppDependencies) {
  const { registrations, internalApiToken } = dependencies;
  const receive = createJsonReceiver(REGISTRATION_BYTES_MAX);
  const checkToken = createInternalTokenCheck(internalApiToken);
  const beforeHandle = ({ request }: { request: Request }) => checkToken(request.headers);

  return new Elysia({ prefix: "/v1/instances", tags: ["instances"] })
    .get("", () => describeInstances(dependencies), {
      response: listResponses,
      detail: { summary: "Every instance with its state, load and streams" },
    })
    .get("/:name", ({ params }) => describeNamed(params.name, dependencies), {
      response: instanceResponses,
      detail: { summary: "One instance with its state, load and streams" },
    })
    .post(
      "",
      async ({ request, status }) => {
        requireJson(request.headers);
        const { registration, leaseMs } = readRegistration(await receive(request));
        const { name } = registration;
        const outcome = requireRegistered(name, registrations.register(registration, leaseMs));
        return status(outcome === "registered" ? 201 : 200, { name, outcome });
      },
      {
        beforeHandle,
        parse: "none",
        body: registrationRequest,
        response: registerResponses,
        detail: { summary: "Registers an instance, or refreshes its registration and renews its lease" },
      },
    )
    .delete(
      "/:name",
      ({ params, request, set }) => {
        const { incarnation_id: incarnation } = checkQuery(Object.fromEntries(new URL(request.url).searchParams));
        requireDeregistered(params.name, registrations.deregister(params.name, incarnation ?? null));
        set.status = 204;
      },
      {
        beforeHandle,
        query: t.NoValidate(deregisterQuery),
        response: deregisterResponses,
        detail: { summary: "Deletes an instance that was registered here" },
      },
    );
}

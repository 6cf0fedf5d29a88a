/** What the route's decision takes and gives: the contract of clients, in snake_case. */

import { type Static, t } from "elysia";
import { LOAD_BALANCE_POLICIES, ROLES, TOKENS_MAX } from "#domain";
import { BATCH_REQUESTS_MAX } from "../limits.ts";
import { oneOf } from "../one-of.ts";
import { bodyProblems, problemDocument } from "../problem.ts";
import { namespaceFields } from "../prompt-fields.ts";
import { TOKEN_MAX } from "../token-body/mod.ts";

/** Room for two of the longest `X-Request-Id`. */
const REQUEST_ID_CHARACTERS_MAX = 256;

/** As a query parameter it is a text. */
const flag = t.Union([t.Literal(true), t.Literal(false), t.Literal("true"), t.Literal("false")], {
  description: "true or false is allowed",
});

/** All fields but token_ids, which never becomes a JavaScript value. */
export const routeFields = t.Object(
  {
    request_id: t.Optional(
      t.String({
        pattern: `^[ -~]{1,${REQUEST_ID_CHARACTERS_MAX}}$`,
        description: `1 to ${REQUEST_ID_CHARACTERS_MAX} printable ASCII characters are allowed`,
      }),
    ),
    explain: t.Optional(flag),
    dry_run: t.Optional(flag),
    ...namespaceFields,
  },
  { additionalProperties: false },
);

const promptRequest = t.Object(
  { token_ids: t.Array(t.Integer({ minimum: 0, maximum: TOKEN_MAX }), { maxItems: TOKENS_MAX }), ...routeFields.properties },
  { additionalProperties: false },
);

const batchRequest = t.Object(
  { requests: t.Array(promptRequest, { maxItems: BATCH_REQUESTS_MAX }) },
  { additionalProperties: false },
);

/** The body as clients see it. `token-body` decodes and checks it in each of its forms, so nothing else validates it. */
export const routeRequest = t.NoValidate(t.Union([promptRequest, batchRequest]));

const count = t.Integer({ minimum: 0 });

const numberOrNull = (description: string) => t.Union([t.Number(), t.Null()], { description });

const textOrNull = (description: string) => t.Union([t.String(), t.Null()], { description });

const score = numberOrNull("The least is chosen: CAR's score, SLO_AWARE's milliseconds; null: not compared by number");

const chosen = t.Object({
  instance_name: t.String(),
  address: t.String({ description: "host:port of its HTTP door" }),
  kv_hit_ratio: t.Number(),
  queue_cost: t.Number(),
  score,
});

const workingRole = oneOf(ROLES.filter((role) => role !== "MIX"));

const candidate = t.Object({
  instance_name: t.String(),
  role: oneOf(ROLES),
  current_role: workingRole,
  side: oneOf(["prefill", "decode"]),
  kv_hit_ratio: t.Number(),
  device_hit_tokens: count,
  host_only_hit_tokens: count,
  disk_only_hit_tokens: count,
  predicted_hit_tokens: count,
  waiting_requests: numberOrNull("As its load report says; null: the policy needs none, or there is none that counts"),
  in_flight_requests: count,
  gpu_cache_usage_perc: numberOrNull("The same"),
  queue_cost: t.Number(),
  score,
  excluded: textOrNull("Why it may not serve"),
  uncredited: textOrNull("Why nothing that it may hold counts; it may serve all the same"),
});

const decision = t.Object({
  policy: oneOf(LOAD_BALANCE_POLICIES),
  request_id: t.String(),
  prefill: chosen,
  decode: t.Union([chosen, t.Null()], { description: "Null: the prefill instance serves alone" }),
  candidates: t.Optional(t.Array(candidate, { description: "Every instance, by name; absent with explain false" })),
  flip: t.Union([t.Object({ instance_name: t.String(), to: oneOf(["PREFILL", "DECODE"]) }), t.Null()], {
    description: "The MIX instance that changed sides with this decision, or would change them",
  }),
  dry_run: t.Optional(t.Literal(true, { description: "Nothing was decided: this is what would be; else absent" })),
});

const batchDecision = t.Object({
  decisions: t.Array(t.Union([decision, t.Object({ error: problemDocument })]), {
    description: "One for each request, in order; each is decided after those before it",
  }),
});

/** Whether a flag in either of its forms says true. */
export function isTrue(given: Static<typeof flag>): boolean {
  return given === true || given === "true";
}

export type ChosenAnswer = Static<typeof chosen>;

export type CandidateAnswer = Static<typeof candidate>;

export type DecisionAnswer = Static<typeof decision>;

export type BatchAnswer = Static<typeof batchDecision>;

/** Not validated on its way out: the compiler has checked it, and there may be thousands of candidates. */
export const routeAnswer = t.NoValidate(t.Union([decision, batchDecision]));

export const routeResponses = {
  200: routeAnswer,
  ...bodyProblems,
};

/** What the query route takes and gives: the contract of clients, in snake_case. */

import { type Static, t } from "elysia";
import { TOKENS_MAX } from "#domain";
import { bodyProblems } from "../problem.ts";
import { namespaceFields } from "../prompt-fields.ts";
import { TOKEN_MAX } from "../token-body/mod.ts";

/** Names of one filter; eight times the streams that a directory can hold. */
const INSTANCE_NAMES_MAX = 1024;

/** All fields but token_ids, which never becomes a JavaScript value. */
export const queryFields = t.Object(
  {
    instance_names: t.Optional(
      t.Array(t.String({ minLength: 1, description: "nonempty strings are allowed" }), {
        maxItems: INSTANCE_NAMES_MAX,
        description: `at most ${INSTANCE_NAMES_MAX} nonempty strings are allowed`,
      }),
    ),
    ...namespaceFields,
  },
  { additionalProperties: false },
);

/** The body as clients see it. `token-body` decodes and checks it in each of its forms, so nothing else validates it. */
export const queryRequest = t.NoValidate(
  t.Object(
    { token_ids: t.Array(t.Integer({ minimum: 0, maximum: TOKEN_MAX }), { maxItems: TOKENS_MAX }), ...queryFields.properties },
    { additionalProperties: false },
  ),
);

const count = t.Integer({ minimum: 0 });

const instanceMatch = t.Object({
  instance_name: t.String(),
  dp_rank: count,
  synchronized: t.Boolean(),
  coverage: t.Union([t.Literal("full"), t.Literal("partial")], {
    description: "partial: blocks stored before the stream was joined, or that could not be read, are not counted",
  }),
  sequence: count,
  device_hit_tokens: count,
  host_only_hit_tokens: count,
  disk_only_hit_tokens: count,
  reusable_prefix_tokens: count,
  device_blocks: count,
  host_blocks: count,
  disk_blocks: count,
  error: t.Union([t.String(), t.Null()], { description: "Why the stream is not synchronized" }),
});

export type InstanceMatch = Static<typeof instanceMatch>;

/** Not validated on its way out: the compiler has checked it, and at 128 streams the check costs four times the encoding. */
export const queryAnswer = t.NoValidate(t.Object({ matches: t.Array(instanceMatch) }));

export const queryResponses = {
  200: queryAnswer,
  ...bodyProblems,
};

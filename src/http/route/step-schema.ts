/** What a report of how a request fares takes and gives, in snake_case. */

import { type Static, Type } from "@sinclair/typebox";
import { t } from "elysia";
import { oneOf } from "../one-of.ts";
import { bodyProblems, problemDocument } from "../problem.ts";

/** Longer than any answer. */
const GENERATED_TOKENS_MAX = 1_048_576;

/** The prefill is done: the first token is there; further tokens are; all are; it ended before that. */
const PHASES = ["prefill", "generate", "decode", "cancel"] as const;

export const stepFields = Type.Object(
  {
    phase: oneOf(PHASES),
    generated_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: GENERATED_TOKENS_MAX,
        description: `an integer from 1 to ${GENERATED_TOKENS_MAX} is allowed, with phase generate only`,
      }),
    ),
  },
  { additionalProperties: false },
);

export type StepFields = Static<typeof stepFields>;

/** `step.ts` checks it. */
export const stepRequest = t.NoValidate(stepFields);

export const stepResponses = {
  204: t.Void(),
  404: problemDocument,
  ...bodyProblems,
};

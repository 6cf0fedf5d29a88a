/** What the heartbeat route takes and gives: xLLM service's contract. */

import { t } from "elysia";
import { problemDocument } from "../problem.ts";

const number = t.Union([t.Number(), t.String()], {
  description: "A number, or its text as protobuf's JSON writes 64-bit integers",
});

/** `decode.ts` checks it; unknown fields are ignored at every level. */
export const heartbeatRequest = t.NoValidate(
  t.Object({
    name: t.String({ minLength: 1, description: "The instance's name as registered" }),
    incarnation_id: t.Optional(t.String({ description: "As registered" })),
    load_metrics: t.Optional(
      t.Object({
        waiting_requests_num: t.Optional(number),
        gpu_cache_usage_perc: t.Optional(number),
      }),
    ),
    latency_metrics: t.Optional(
      t.Object({
        recent_max_ttft: t.Optional(number),
        recent_max_tbt: t.Optional(number),
      }),
    ),
  }),
);

export const heartbeatResponses = {
  200: t.NoValidate(t.Object({ ok: t.Literal(true) })),
  400: problemDocument,
  401: problemDocument,
  409: problemDocument,
  413: problemDocument,
  500: problemDocument,
  503: problemDocument,
};

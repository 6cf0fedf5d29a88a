/** What the instance routes answer: the contract of clients, in snake_case. */

import { type Static, t } from "elysia";
import { LOAD_ORIGINS, REGISTRIES, ROLES } from "#domain";
import { INSTANCE_STATES } from "#fleet";
import { oneOf } from "../one-of.ts";
import { bodyProblems, problemDocument } from "../problem.ts";

const count = t.Integer({ minimum: 0 });

const textOrNull = (description: string) => t.Union([t.String(), t.Null()], { description });

const stream = t.Object({
  dp_rank: count,
  endpoint: t.String(),
  replay_endpoint: t.Union([t.String(), t.Null()]),
  synchronized: t.Boolean(),
  coverage: t.Union([t.Literal("full"), t.Literal("partial")]),
  sequence: count,
  device_blocks: count,
  host_blocks: count,
  disk_blocks: count,
  error: textOrNull("Why the stream is not synchronized"),
});

const load = t.Object({
  waiting_requests_num: t.Number(),
  gpu_cache_usage_perc: t.Number(),
  origin: oneOf(LOAD_ORIGINS),
  age_ms: count,
});

const latency = t.Object({ recent_max_ttft: t.Number(), recent_max_tbt: t.Number() }, { description: "Milliseconds" });

const instance = t.Object({
  name: t.String(),
  address: t.String(),
  role: oneOf(ROLES),
  current_role: t.Union([t.Literal("DEFAULT"), t.Literal("PREFILL"), t.Literal("DECODE")], {
    description: "What a MIX instance works as; of any other its role",
  }),
  engine: t.String(),
  state: oneOf(INSTANCE_STATES),
  state_seconds: t.Number({ description: "For how long it has been in this state" }),
  registry: oneOf(REGISTRIES),
  incarnation_id: t.String({ description: "register_ts_ms:<number> for engines that have no incarnation id" }),
  excluded: textOrNull("Why no request goes there by the policy in force; null: it may serve"),
  dp_size: count,
  block_size: t.Union([count, t.Null()], { description: "As registered, else as its streams are read; null: neither" }),
  load: t.Union([load, t.Null()], { description: "The report that counts" }),
  load_error: textOrNull("Why no report of its load counts"),
  latency: t.Union([latency, t.Null()]),
  subscription_error: textOrNull("Why its events are not listened to"),
  streams: t.Array(stream),
});

const staticStream = t.Object({ instance_name: t.String(), ...stream.properties });

const refusal = t.Object({ registry: oneOf(REGISTRIES), name: t.String(), reason: t.String() });

const instances = t.Object({
  instances: t.Array(instance),
  static_streams: t.Array(staticStream, {
    description: "Streams listed in the KV events file, of instances that nobody registered",
  }),
  refused: t.Array(refusal, { description: "What registries have that cannot become an instance" }),
});

const registered = t.Object({ name: t.String(), outcome: t.Union([t.Literal("registered"), t.Literal("refreshed")]) });

export type StreamAnswer = Static<typeof stream>;

export type InstanceAnswer = Static<typeof instance>;

export type InstancesAnswer = Static<typeof instances>;

// Answers are not validated on their way out: the compiler has checked them.

export const listResponses = { 200: t.NoValidate(instances), 500: problemDocument, 503: problemDocument };

export const instanceResponses = {
  200: t.NoValidate(instance),
  404: problemDocument,
  500: problemDocument,
  503: problemDocument,
};

export const registerResponses = {
  200: t.NoValidate(registered),
  201: t.NoValidate(registered),
  409: problemDocument,
  ...bodyProblems,
};

export const deregisterResponses = {
  204: t.Void(),
  401: problemDocument,
  404: problemDocument,
  409: problemDocument,
  422: problemDocument,
  500: problemDocument,
};

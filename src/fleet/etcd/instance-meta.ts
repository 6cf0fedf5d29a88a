/**
 * InstanceMetaInfo, the JSON under an instance's key, as xLLM's service reads it: three fields are required, the others have
 * defaults, unknown ones are ignored. Engines write null for lists that are empty.
 */

import { type TSchema, Type } from "@sinclair/typebox";
import {
  canonicalEndpoint,
  HASH_SEED_DEFAULT,
  type InstanceRegistration,
  incarnationOf,
  RANKS_MAX,
  ROLES,
  type Role,
} from "#domain";
import { createJsonReader, type ReadValue } from "./json-value.ts";
import { instanceKey } from "./keys.ts";

const ROLE_NUMBERS = ROLES.map((role, type) => `${type} ${role}`);

const readMeta = createJsonReader(
  Type.Object({
    name: Type.String({ description: "a string" }),
    rpc_address: Type.String({ description: "a string" }),
    type: Type.Integer({ minimum: 0, maximum: ROLES.length - 1, description: `one of ${ROLE_NUMBERS.join(", ")}` }),
    incarnation_id: absentOr(Type.String(), "a string"),
    register_ts_ms: absentOr(Type.Integer({ minimum: 0 }), "an integer from 0"),
    dp_size: absentOr(Type.Integer({ minimum: 0, maximum: RANKS_MAX }), `an integer from 0 to ${RANKS_MAX}`),
    backend_type: absentOr(Type.String(), "a string"),
    ttft_profiling_data: absentOr(
      Type.Array(Type.Tuple([Type.Number(), Type.Number()])),
      "a list of [prompt tokens, milliseconds]",
    ),
    tpot_profiling_data: absentOr(
      Type.Array(Type.Tuple([Type.Number(), Type.Number(), Type.Number()])),
      "a list of [average tokens, requests, milliseconds]",
    ),
  }),
);

/** What the value under the key of that role and name registers. The key's name overrides the value's. */
export function readInstanceMeta(role: Role, name: string, bytes: Uint8Array): ReadValue<InstanceRegistration> {
  if (canonicalEndpoint(`tcp://${name}`) === null) {
    return problem(`the key names ${JSON.stringify(name)}, host:port of the instance's HTTP address is needed`);
  }
  const read = readMeta(bytes);
  if (read.kind === "problem") return read;
  const { type, dp_size, backend_type, incarnation_id, register_ts_ms, ttft_profiling_data, tpot_profiling_data } = read.value;
  if (ROLES[type] !== role) {
    const key = JSON.stringify(instanceKey("", role, name));
    return problem(`type is ${ROLE_NUMBERS[type]}, ${ROLE_NUMBERS[ROLES.indexOf(role)]} is needed under the key ${key}`);
  }
  const registration = {
    name,
    address: name,
    role,
    // Empty strings and zeros are what protocol buffers write for absent fields.
    backend: backend_type || "xllm",
    incarnation: incarnationOf(incarnation_id ?? "", register_ts_ms ?? 0),
    dpSize: dp_size || 1,
    blockSize: null,
    hashSeed: HASH_SEED_DEFAULT,
    topic: null,
    curveServerKey: null,
    eventEndpoints: null,
    replayEndpoints: null,
    ttftSamples: ttft_profiling_data ?? [],
    tpotSamples: tpot_profiling_data ?? [],
  };
  return { kind: "value", value: registration };
}

function absentOr<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Optional(Type.Union([schema, Type.Null()], { description }));
}

function problem(reason: string): { kind: "problem"; reason: string } {
  return { kind: "problem", reason };
}

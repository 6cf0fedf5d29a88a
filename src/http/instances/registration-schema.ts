/** What registers an instance: the contract of whoever posts it, in snake_case. */

import { type Static, Type } from "@sinclair/typebox";
import { t } from "elysia";
import { BLOCK_SIZE_MAX, CURVE_KEY_CHARACTERS, ENGINES, HASH_SEED_MAX, RANKS_MAX, ROLES } from "#domain";
import { oneOf } from "../one-of.ts";

/** The longest name that DNS has. */
const NAME_CHARACTERS_MAX = 253;

/** Far beyond any topic or identity in use, and within an etcd key or a log line. */
const TEXT_CHARACTERS_MAX = 1024;

/** An engine profiles some tens of lengths. */
const SAMPLES_MAX = 1024;

/** A day: an instance that is heard of less often is better deleted by hand. */
const LEASE_SECONDS_MAX = 86_400;

export const ENDPOINT_ALLOWED = "tcp://host:port with a port from 1 to 65535 and no wildcard host (*, 0.0.0.0, [::]) is allowed";

const name = Type.String({
  pattern: `^[!-~](?:[ -~]{0,${NAME_CHARACTERS_MAX - 2}}[!-~])?$`,
  description: `1 to ${NAME_CHARACTERS_MAX} printable ASCII characters without a space at either end are allowed`,
});

const text = Type.Optional(
  Type.String({
    maxLength: TEXT_CHARACTERS_MAX,
    description: `a string of at most ${TEXT_CHARACTERS_MAX} characters is allowed`,
  }),
);

function integer(minimum: number, maximum: number) {
  return Type.Integer({ minimum, maximum, description: `an integer from ${minimum} to ${maximum} is allowed` });
}

const endpoints = Type.Optional(
  Type.Array(Type.String({ description: ENDPOINT_ALLOWED }), {
    maxItems: RANKS_MAX,
    description: "an array with one endpoint for each rank is allowed",
  }),
);

const measure = Type.Number({ minimum: 0, description: "a number from 0 is allowed" });

const samplesAllowed = (shape: string) => ({
  maxItems: SAMPLES_MAX,
  description: `an array of at most ${SAMPLES_MAX} samples ${shape} is allowed`,
});

const ttftSample = Type.Tuple([measure, measure], { description: "[prompt tokens, milliseconds] is allowed" });

const tpotSample = Type.Tuple([measure, measure, measure], {
  description: "[average tokens, requests in the batch, milliseconds] is allowed",
});

export const CURVE_KEY_ALLOWED = `a public CURVE key, ${CURVE_KEY_CHARACTERS} characters of Z85, is allowed`;

export const registrationFields = Type.Object(
  {
    name,
    address: Type.Optional(Type.String({ description: "host:port of the instance's HTTP door is allowed" })),
    role: Type.Optional(oneOf(ROLES)),
    engine: oneOf(ENGINES),
    incarnation_id: text,
    register_ts_ms: Type.Optional(integer(0, Number.MAX_SAFE_INTEGER)),
    dp_size: Type.Optional(integer(1, RANKS_MAX)),
    block_size: Type.Optional(integer(1, BLOCK_SIZE_MAX)),
    hash_seed: Type.Optional(integer(0, HASH_SEED_MAX)),
    topic: text,
    event_endpoints: endpoints,
    replay_endpoints: endpoints,
    curve_server_key: Type.Optional(
      Type.String({
        minLength: CURVE_KEY_CHARACTERS,
        maxLength: CURVE_KEY_CHARACTERS,
        description: CURVE_KEY_ALLOWED,
      }),
    ),
    ttft_profiling_data: Type.Optional(Type.Array(ttftSample, samplesAllowed("[prompt tokens, milliseconds]"))),
    tpot_profiling_data: Type.Optional(
      Type.Array(tpotSample, samplesAllowed("[average tokens, requests in the batch, milliseconds]")),
    ),
    lease_seconds: Type.Optional(integer(1, LEASE_SECONDS_MAX)),
  },
  { additionalProperties: false },
);

export type RegistrationFields = Static<typeof registrationFields>;

/** `registration.ts` checks it, also what must hold between the fields. */
export const registrationRequest = t.NoValidate(registrationFields);

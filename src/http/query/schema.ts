/** What the query route takes and gives: the contract of clients, in snake_case. */

import { Type } from "@sinclair/typebox";
import { type Static, t } from "elysia";
import { TOKENS_MAX } from "#domain";
import { problemDocument } from "../problem.ts";
import { TOKEN_MAX } from "../token-body/mod.ts";

/** Names of one filter; eight times the streams that a directory can hold. */
const INSTANCE_NAMES_MAX = 1024;

/** UTF-16 units of an adapter's name, a salt or a key: digests and URLs are shorter by far. */
const KEY_CHARACTERS_MAX = 4096;

/** 1 M tokens in blocks of 16. */
const EXTRA_KEY_BLOCKS_MAX = 65_536;

/** Multimodal items that overlap one block: the usual block has at most 128 tokens, and an item takes more than one. */
const EXTRA_KEYS_PER_BLOCK_MAX = 64;

/** An absent and an empty text mean the same, as they do to engines. */
const optionalText = t.Optional(
  t.String({
    maxLength: KEY_CHARACTERS_MAX,
    description: `a string of at most ${KEY_CHARACTERS_MAX} characters is allowed`,
  }),
);

const keyText = t.String({
  minLength: 1,
  maxLength: KEY_CHARACTERS_MAX,
  description: `a nonempty string of at most ${KEY_CHARACTERS_MAX} characters is allowed`,
});

/** The start of an item that began in an earlier block is negative. Elysia's own integer would take the text "16" for one. */
const keyOffset = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "an integer that a double holds exactly is allowed",
});

const extraKey = t.Union([keyText, t.Tuple([keyText, keyOffset])], {
  description: `a nonempty string of at most ${KEY_CHARACTERS_MAX} characters or [string, integer] is allowed`,
});

const extraKeys = t.Array(
  t.Union([t.Null(), t.Array(extraKey, { maxItems: EXTRA_KEYS_PER_BLOCK_MAX })], {
    description: `null or at most ${EXTRA_KEYS_PER_BLOCK_MAX} keys are allowed for a block`,
  }),
  {
    maxItems: EXTRA_KEY_BLOCKS_MAX,
    description: `an array of at most ${EXTRA_KEY_BLOCKS_MAX} blocks is allowed, in JSON and MessagePack bodies only`,
  },
);

/** All fields but token_ids, which never becomes a JavaScript value. */
export const queryFields = t.Object(
  {
    instance_names: t.Optional(
      t.Array(t.String({ minLength: 1, description: "nonempty strings are allowed" }), {
        maxItems: INSTANCE_NAMES_MAX,
        description: `at most ${INSTANCE_NAMES_MAX} nonempty strings are allowed`,
      }),
    ),
    lora_name: optionalText,
    cache_salt: optionalText,
    extra_keys: t.Optional(extraKeys),
  },
  { additionalProperties: false },
);

export type QueryFields = Static<typeof queryFields>;

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
  400: problemDocument,
  401: problemDocument,
  413: problemDocument,
  415: problemDocument,
  422: problemDocument,
  500: problemDocument,
  503: problemDocument,
};

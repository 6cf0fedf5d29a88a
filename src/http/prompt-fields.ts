/** The fields that set a prompt apart from others with the same tokens, as every route that takes prompts has them. */

import { type Static, Type } from "@sinclair/typebox";
import { t } from "elysia";

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

export const namespaceFields = {
  lora_name: optionalText,
  cache_salt: optionalText,
  extra_keys: t.Optional(extraKeys),
};

const namespaceObject = t.Object(namespaceFields);

export type NamespaceFields = Static<typeof namespaceObject>;

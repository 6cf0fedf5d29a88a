/** What sets a prompt apart from others with the same tokens: a request's fields as the namespace that the index matches under. */

import { type ExtraKey, extraKeyBytes, loraNameRoot, type Namespace } from "#domain";
import type { NamespaceFields } from "./prompt-fields.ts";

/**
 * Null for plain text on the base model; an empty text counts as absent. The salt comes last among the keys of block 0, where
 * engines put it: `cache_salt` "s" is the same as `extra_keys` [["s"]].
 */
export function promptNamespace({ lora_name, cache_salt, extra_keys }: NamespaceFields): Namespace | null {
  const root = lora_name ? loraNameRoot(lora_name) : null;
  const blocks = (extra_keys ?? []).map((keys) => (keys ?? []).map(extraKey));
  if (cache_salt) blocks[0] = [...(blocks[0] ?? []), cache_salt];
  const extraKeys = blocks.map(extraKeyBytes);
  const hasExtraKeys = extraKeys.some((bytes) => bytes !== null);
  return root === null && !hasExtraKeys ? null : { root, extraKeys: hasExtraKeys ? extraKeys : null };
}

function extraKey(key: string | [identifier: string, offset: number]): ExtraKey {
  return typeof key === "string" ? key : { identifier: key[0], offset: key[1] };
}

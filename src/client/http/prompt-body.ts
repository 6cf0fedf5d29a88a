/**
 * A prompt as the bytes of a request: its tokens alone with the other fields as query parameters, or one MessagePack object where
 * those fields have no place in a URL. Either way the tokens are never written as text.
 */

import { encode } from "@msgpack/msgpack";

export interface PromptBody {
  contentType: "application/octet-stream" | "application/msgpack";
  bytes: Uint8Array<ArrayBuffer>;
  query: Record<string, string>;
}

/** Characters of all parameters together: even percent-encoded they leave a URL far below the 16 KiB that servers and proxies take. */
const PARAMETER_CHARACTERS_MAX = 1024;

/**
 * Encodes a prompt. As parameters stand texts and truth values; a list is no parameter, since an empty one could not be told from
 * none, nor a comma in a name from one between names. Fields that are undefined or null are left out. The bytes may be the memory
 * of `tokens` itself.
 */
export function encodePrompt(tokens: Uint32Array<ArrayBuffer>, fields: Readonly<Record<string, unknown>>): PromptBody {
  // Every platform of Bun is little-endian, so the tokens are the bytes.
  const tokenBytes = new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength);
  const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
  const query = describeParameters(present);
  if (query !== null) return { contentType: "application/octet-stream", bytes: tokenBytes, query };
  return { contentType: "application/msgpack", bytes: encode({ token_ids: tokenBytes, ...present }), query: {} };
}

/** The fields as query parameters, or null when they cannot be. */
function describeParameters(fields: Record<string, unknown>): Record<string, string> | null {
  const parameters: Record<string, string> = {};
  let characters = 0;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== "string" && typeof value !== "boolean") return null;
    parameters[name] = String(value);
    characters += parameters[name].length;
  }
  return characters <= PARAMETER_CHARACTERS_MAX ? parameters : null;
}

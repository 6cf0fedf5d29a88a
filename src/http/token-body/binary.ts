/** Binary bodies: u32 little-endian tokens and nothing else; the other fields are query parameters. */

import { fieldPointer, Problem } from "../problem.ts";
import type { DecodedBody } from "./decoded-body.ts";
import { tooManyTokens } from "./token-problems.ts";

export const TOKEN_BYTES = 4;

/** Parameters that hold a list: separated by commas, repeated, or both. */
const LIST_PARAMETERS: ReadonlySet<string> = new Set(["instance_names"]);

/**
 * Copies `body` into `tokens`; `query` becomes the fields. An empty body is an empty prompt. Throws a problem: 400 when the body
 * ends within a token, 413 when it has more than `tokens.length` tokens, 422 when a parameter that holds one value is there
 * twice.
 */
export function decodeBinaryBody(body: Uint8Array, query: URLSearchParams, tokens: Uint32Array): DecodedBody {
  if (body.length % TOKEN_BYTES !== 0) {
    const detail = `found ${body.length} bytes, a multiple of ${TOKEN_BYTES} is needed`;
    throw new Problem("malformed-body", {
      detail: `Cannot decode the binary body: ${detail}`,
      errors: [{ detail, offset: body.length - (body.length % TOKEN_BYTES) }],
    });
  }
  return { tokenCount: copyTokens(body, tokens), fields: readParameters(query) };
}

/**
 * Copies u32 little-endian tokens and returns their count; `bytes.length` is a multiple of 4. Throws a 413 problem when `tokens`
 * is shorter.
 */
export function copyTokens(bytes: Uint8Array, tokens: Uint32Array): number {
  const tokenCount = bytes.length / TOKEN_BYTES;
  if (tokenCount > tokens.length) throw tooManyTokens(tokenCount, tokens.length);
  // Every platform of Bun is little-endian, so the bytes are the tokens.
  new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength).set(bytes);
  return tokenCount;
}

function readParameters(query: URLSearchParams): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (LIST_PARAMETERS.has(name))
      fields.set(
        name,
        values.flatMap((value) => value.split(",")),
      );
    else if (values.length === 1) fields.set(name, values[0]);
    else throw repeatedParameter(name, values.length);
  }
  return Object.fromEntries(fields);
}

function repeatedParameter(name: string, count: number): Problem {
  const detail = `found the parameter ${count} times, once is allowed`;
  return new Problem("invalid-fields", {
    detail: `Cannot read the query parameter ${JSON.stringify(name)}: ${detail}`,
    errors: [{ pointer: fieldPointer(name), detail }],
  });
}

/** One door for every body form: the tokens go into token memory, everything else becomes fields. */

import { fieldPointer, Problem } from "../problem.ts";
import { decodeBinaryBody } from "./binary.ts";
import { type DecodedBatch, type DecodedBody, decodeObject, decodeObjects } from "./decoded-body.ts";
import { jsonForm } from "./json.ts";
import { messagePackForm } from "./message-pack.ts";
import type { ReceivedBody } from "./receive.ts";

const OBJECT_FORMS = { json: jsonForm, "message-pack": messagePackForm };

/**
 * Decodes a body and writes its tokens into `tokens`, whose length is the most that a prompt may have. Synchronous, because that
 * memory is shared: who uses the tokens does so before anything is awaited. Throws a problem with status 400, 413 or 422.
 */
export function decodeTokenBody(body: ReceivedBody, tokens: Uint32Array): DecodedBody {
  refuseMisplaced(body);
  if (body.form === "binary") return decodeBinaryBody(body.bytes, body.query, tokens);
  return decodeObject(OBJECT_FORMS[body.form], body.bytes, tokens);
}

/** The same where a body may bring several prompts, `{ "requests": [ … ] }`; a binary body is one prompt. */
export function decodeTokenBodies(body: ReceivedBody, tokens: Uint32Array): DecodedBody | DecodedBatch {
  refuseMisplaced(body);
  if (body.form === "binary") return decodeBinaryBody(body.bytes, body.query, tokens);
  return decodeObjects(OBJECT_FORMS[body.form], body.bytes, tokens);
}

/** An object has its fields within, all of them. */
function refuseMisplaced({ form, bytes, query }: ReceivedBody): void {
  if (form === "binary") return;
  refuseParameters(query);
  if (bytes.length > 0) return;
  throw new Problem("malformed-body", { detail: "Cannot decode the body: found no bytes, an object with token_ids is needed" });
}

/** A filter in the wrong place would otherwise be ignored in silence. */
function refuseParameters(query: URLSearchParams): void {
  const [name] = query.keys();
  if (name === undefined) return;
  const detail = "found a query parameter, fields belong in the body unless it is application/octet-stream";
  throw new Problem("invalid-fields", {
    detail: `Cannot read the query parameter ${JSON.stringify(name)}: ${detail}`,
    errors: [{ pointer: fieldPointer(name), detail }],
  });
}

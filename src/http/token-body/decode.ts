/** One entry for every body form: the tokens go into token memory, everything else becomes fields. */

import { fieldPointer, Problem } from "../problem.ts";
import { decodeBinaryBody } from "./binary.ts";
import type { DecodedBody } from "./decoded-body.ts";
import { decodeJsonBody } from "./json.ts";
import { decodeMessagePackBody } from "./message-pack.ts";
import type { ReceivedBody } from "./receive.ts";

/**
 * Decodes a body and writes its tokens into `tokens`, whose length is the most that a prompt may have. Synchronous, because that
 * memory is shared: who uses the tokens does so before anything is awaited. Throws a problem with status 400, 413 or 422.
 */
export function decodeTokenBody({ form, bytes, query }: ReceivedBody, tokens: Uint32Array): DecodedBody {
  switch (form) {
    case "json":
      refuseParameters(query);
      refuseEmpty(bytes);
      return decodeJsonBody(bytes, tokens);
    case "message-pack":
      refuseParameters(query);
      refuseEmpty(bytes);
      return decodeMessagePackBody(bytes, tokens);
    case "binary":
      return decodeBinaryBody(bytes, query, tokens);
  }
}

function refuseEmpty(bytes: Uint8Array): void {
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

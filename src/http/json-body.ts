/** JSON bodies that hold one small object: what is not JSON or too long is refused before it is read whole. */

import { BodyBudget } from "./body-budget.ts";
import { receiveBytes } from "./body-bytes.ts";
import { SMALL_BODIES_BYTES_MAX } from "./limits.ts";
import { excerpt, Problem } from "./problem.ts";
import { JsonCursor } from "./token-body/mod.ts";

/** Throws a 415 problem unless the content type is JSON. */
export function requireJson(headers: Headers): void {
  const contentType = headers.get("content-type");
  if (contentType?.split(";", 1)[0].trim().toLowerCase() === "application/json") return;
  const found = contentType === null ? "no content type" : `content type ${excerpt(contentType)}`;
  throw new Problem("unsupported-media-type", {
    detail: `Cannot read the body: found ${found}, allowed is application/json`,
    headers: { "accept-post": "application/json" },
  });
}

/**
 * Returns what reads and decodes a route's bodies. It throws a problem: 413 beyond `bytesMax`, 400 when the body is not one JSON
 * object, 503 when the route's bodies under way leave no room for it.
 */
export function createJsonReceiver(bytesMax: number): (request: Request) => Promise<Record<string, unknown>> {
  const budget = new BodyBudget(SMALL_BODIES_BYTES_MAX);
  return async (request) => decodeJsonObject(await receiveBytes(request, bytesMax, budget));
}

/** The members of the one object that `body` is; a 400 problem names the byte where it is something else, or a name comes again. */
function decodeJsonObject(body: Uint8Array): Record<string, unknown> {
  const cursor = new JsonCursor(body);
  const fields = new Map<string, unknown>();
  cursor.takeObject((name) => fields.set(name, cursor.takeValue()));
  cursor.takeEnd();
  return Object.fromEntries(fields);
}

/** JSON bodies that hold one small object: what is not JSON or too long is refused before it is read whole. */

import { concatenate } from "#domain";
import { SMALL_BODIES_BYTES_MAX } from "./limits.ts";
import { excerpt, Problem } from "./problem.ts";
import { BodyBudget, JsonCursor, malformedJson } from "./token-body/mod.ts";

const OPEN_BRACE = 0x7b;

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
  return async (request) => {
    const announced = request.headers.get("content-length");
    refuseOversized(Number(announced ?? 0), bytesMax);
    const room = announced === null ? bytesMax : Number(announced);
    return decodeJsonObject(await budget.withRoom(room, () => readBytes(request, announced !== null, bytesMax)));
  };
}

/** The members of the one object that `body` is; a 400 problem names the byte where it is something else, or a name comes again. */
function decodeJsonObject(body: Uint8Array): Record<string, unknown> {
  const cursor = new JsonCursor(body);
  if (cursor.peek() !== OPEN_BRACE) cursor.fail("an object is needed");
  const fields = new Map<string, unknown>();
  cursor.walkObject((name, nameOffset) => {
    if (fields.has(name)) throw malformedJson(nameOffset, `found the field ${excerpt(name)} again, each field may be there once`);
    cursor.peek();
    const start = cursor.offset;
    cursor.skipValue();
    fields.set(name, JSON.parse(cursor.textFrom(start)));
  });
  if (cursor.peek() !== -1) cursor.fail("the end of the body is needed after the object");
  return Object.fromEntries(fields);
}

async function readBytes(request: Request, isAnnounced: boolean, bytesMax: number): Promise<Uint8Array> {
  try {
    // The server lets nobody send more than was announced.
    if (isAnnounced) return new Uint8Array(await request.arrayBuffer());
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of request.body ?? []) {
      length += part.length;
      refuseOversized(length, bytesMax);
      parts.push(part);
    }
    return concatenate(parts);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new Problem("malformed-body", { detail: `Cannot read the body: it did not arrive whole (${what})`, cause });
  }
}

function refuseOversized(bodyBytes: number, bytesMax: number): void {
  if (bodyBytes <= bytesMax) return;
  throw new Problem("body-too-large", {
    detail: `Cannot read the body: found ${bodyBytes} bytes or more, at most ${bytesMax} are allowed`,
  });
}

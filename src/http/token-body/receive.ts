/** Takes a token body in. What the headers rule out is refused before any of the body is read. */

import { BODY_BYTES_MAX } from "../limits.ts";
import { excerpt, Problem } from "../problem.ts";
import type { BodyBudget } from "./body-budget.ts";

const FORM_BY_MEDIA_TYPE = {
  "application/json": "json",
  "application/msgpack": "message-pack",
  "application/x-msgpack": "message-pack",
  "application/octet-stream": "binary",
} as const;

type MediaType = keyof typeof FORM_BY_MEDIA_TYPE;

/** How the tokens are written. */
export type BodyForm = (typeof FORM_BY_MEDIA_TYPE)[MediaType];

/** A body that is whole, but not looked into yet. */
export interface ReceivedBody {
  form: BodyForm;
  bytes: Uint8Array;
  query: URLSearchParams;
}

/**
 * Reads the whole body. Throws a problem: 415 for another content type, 413 beyond `BODY_BYTES_MAX`, 503 when `budget` has no room
 * for it.
 */
export async function receiveTokenBody(request: Request, budget: BodyBudget): Promise<ReceivedBody> {
  const form = formOf(request.headers.get("content-type"));
  const announced = request.headers.get("content-length");
  refuseOversized(Number(announced ?? 0));
  const bytes = await budget.withRoom(announced === null ? null : Number(announced), () => readBytes(request));
  refuseOversized(bytes.length);
  const queryStart = request.url.indexOf("?");
  return { form, bytes, query: new URLSearchParams(queryStart < 0 ? "" : request.url.slice(queryStart)) };
}

function formOf(contentType: string | null): BodyForm {
  const mediaType = contentType?.split(";", 1)[0].trim().toLowerCase() ?? "";
  if (isMediaType(mediaType)) return FORM_BY_MEDIA_TYPE[mediaType];
  const found = contentType === null ? "no content type" : `content type ${excerpt(contentType)}`;
  throw new Problem("unsupported-media-type", {
    detail: `Cannot read the body: found ${found}, allowed are ${Object.keys(FORM_BY_MEDIA_TYPE).join(", ")}`,
    headers: { "accept-post": Object.keys(FORM_BY_MEDIA_TYPE).join(", ") },
  });
}

function isMediaType(text: string): text is MediaType {
  return Object.hasOwn(FORM_BY_MEDIA_TYPE, text);
}

async function readBytes(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer());
  } catch (cause) {
    // The connection ended, or the server's own limit did it; the client at fault is not an unexpected error of ours.
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new Problem("malformed-body", { detail: `Cannot read the body: it did not arrive whole (${what})`, cause });
  }
}

function refuseOversized(bodyBytes: number): void {
  if (bodyBytes > BODY_BYTES_MAX) {
    const detail = `Cannot read the body: found ${bodyBytes} bytes, at most ${BODY_BYTES_MAX} are allowed`;
    throw new Problem("body-too-large", { detail });
  }
}

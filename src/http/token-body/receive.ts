/** Takes a token body in. What the headers rule out is refused before any of the body is read. */

import type { BodyBudget } from "../body-budget.ts";
import { receiveBytes } from "../body-bytes.ts";
import { BODY_BYTES_MAX } from "../limits.ts";
import { excerpt, Problem } from "../problem.ts";

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
  const bytes = await receiveBytes(request, BODY_BYTES_MAX, budget);
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

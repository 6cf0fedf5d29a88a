/** The name of one request in answers and log lines: the client's own where it sent a usable one. */

export const REQUEST_ID_HEADER = "x-request-id";

/** Printable ASCII, so that it can stand in a header and a log line; 128 characters hold every common format. */
const USABLE_ID = /^[\x20-\x7e]{1,128}$/;

/** The request's id: `X-Request-Id` as the client sent it, or a new UUID when that is absent or not usable. */
export function requestId(headers: Headers): string {
  const sent = headers.get(REQUEST_ID_HEADER);
  return sent !== null && USABLE_ID.test(sent) ? sent : crypto.randomUUID();
}

/** What every answer tells a browser: nothing of it may be kept, framed, run, guessed at or read by another site. */

export const SECURITY_HEADERS = {
  "cache-control": "no-store",
  /** Of an answer that is no page; a page states its own. */
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

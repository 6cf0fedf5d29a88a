/** The shared secret of internal callers. Its comparison takes the same time wherever the tokens differ. */

import { createHash, timingSafeEqual } from "node:crypto";
import { Problem } from "./problem.ts";

const INTERNAL_TOKEN_HEADER = "x-internal-token";

/** Returns a check that throws a 401 problem unless `X-Internal-Token` is `token`; an empty `token` lets everyone in. */
export function createInternalTokenCheck(token: string): (headers: Headers) => void {
  if (token === "") return () => {};
  const needed = digest(token);
  return (headers) => {
    const found = headers.get(INTERNAL_TOKEN_HEADER);
    if (found !== null && timingSafeEqual(digest(found), needed)) return;
    const what = found === null ? "the header X-Internal-Token is absent" : "X-Internal-Token is another token";
    throw new Problem("token-required", { detail: `Cannot accept the request: ${what}, the configured token is needed` });
  };
}

/** Equal lengths for `timingSafeEqual`, whatever was sent. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Takes the bytes of a body in, as many as its route allows: what its headers rule out is refused before any of it is read. */

import { concatenate } from "#domain";
import type { BodyBudget } from "./body-budget.ts";
import { DISCARDED_BYTES_MAX } from "./limits.ts";
import { Problem } from "./problem.ts";

/**
 * Reads the whole body. Throws a problem: 413 beyond `bytesMax`, 503 when `budget` has no room for it, 400 when it does not arrive
 * whole.
 */
export async function receiveBytes(request: Request, bytesMax: number, budget: BodyBudget): Promise<Uint8Array> {
  const announced = announcedBytes(request.headers);
  if (announced !== null && announced > bytesMax) throw tooLarge(`${announced} bytes`, bytesMax, announced > DISCARDED_BYTES_MAX);
  return budget.withRoom(announced ?? 0, async (takeRoom) => {
    try {
      // The server lets nobody send more than was announced.
      if (announced !== null) return new Uint8Array(await request.arrayBuffer());
      const parts: Uint8Array[] = [];
      let length = 0;
      for await (const part of request.body ?? []) {
        length += part.length;
        if (length > bytesMax) throw tooLarge(`${length} bytes or more`, bytesMax, true);
        takeRoom(part.length);
        parts.push(part);
      }
      return concatenate(parts);
    } catch (cause) {
      if (cause instanceof Problem) throw cause;
      const what = cause instanceof Error ? cause.message : String(cause);
      throw new Problem("malformed-body", { detail: `Cannot read the body: it did not arrive whole (${what})`, cause });
    }
  });
}

function announcedBytes(headers: Headers): number | null {
  const announced = headers.get("content-length");
  return announced === null ? null : Number(announced);
}

/** With `isEndless` nobody waits for the rest: the connection ends with the answer. */
function tooLarge(found: string, bytesMax: number, isEndless: boolean): Problem {
  return new Problem("body-too-large", {
    detail: `Cannot read the body: found ${found}, at most ${bytesMax} are allowed`,
    ...(isEndless && { headers: { connection: "close" } }),
  });
}

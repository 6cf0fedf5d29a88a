import { describe, expect, test } from "bun:test";
import { type Attempt, retryDelayMs } from "../../../src/client/http/retry.ts";

const LIMITS = { attemptsMax: 4, firstMs: 100, maxMs: 5000 };
const NOW_MS = Date.parse("2026-01-31T12:00:00Z");

/** The delay after a first 503 on a route of decisions, but for what differs. */
function delayMs(attempt: Partial<Attempt>, random = 0): number | null {
  return retryDelayMs({ number: 1, path: "/v1/route", status: 503, retryAfter: null, ...attempt }, LIMITS, NOW_MS, random);
}

describe("retryDelayMs", () => {
  test("retryDelayMs doubles from try to try, jittered down, and ends with the last one", () => {
    expect([1, 2, 3, 4].map((number) => delayMs({ number }))).toEqual([100, 200, 400, null]);
    expect(delayMs({ number: 2 }, 0.8)).toBe(160);
  });

  test("retryDelayMs waits what Retry-After asks for, in seconds or until a date, and the backoff beyond", () => {
    expect(delayMs({ retryAfter: "1" })).toBe(1100);
    expect(delayMs({ retryAfter: "1", number: 3 })).toBe(1400);
    expect(delayMs({ retryAfter: "Sat, 31 Jan 2026 12:00:03 GMT" })).toBe(3100);
    expect(delayMs({ retryAfter: "5" })).toBe(5000);
  });

  test("retryDelayMs takes an answer as final that asks for a longer wait than the limit", () => {
    expect(delayMs({ retryAfter: "6" })).toBeNull();
    expect(delayMs({ retryAfter: "Sat, 31 Jan 2026 13:00:00 GMT" })).toBeNull();
    expect(delayMs({ retryAfter: "9".repeat(400) })).toBeNull();
  });

  test("retryDelayMs takes a Retry-After that is over or cannot be read for none", () => {
    for (const retryAfter of ["", "soon", "-3", "1.5 s", "Sat, 31 Jan 2026 11:00:00 GMT"])
      expect(delayMs({ retryAfter })).toBe(100);
  });

  test("retryDelayMs takes every other status as final, and whatever readiness answers", () => {
    for (const status of [200, 201, 204, 400, 401, 404, 409, 413, 422, 429, 500, 502]) expect(delayMs({ status })).toBeNull();
    expect(delayMs({ path: "/readyz" })).toBeNull();
    expect(delayMs({ path: "/behind/a/proxy/readyz", retryAfter: "1" })).toBeNull();
    expect(delayMs({ path: "/v1/instances" })).toBe(100);
  });
});

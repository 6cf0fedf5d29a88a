import { describe, expect, test } from "bun:test";
import { createRetryingFetch, type Fetch, type RetryingFetchOptions } from "../../../src/client/http/retrying-fetch.ts";

const URL_ASKED = "http://warmpath.test/v1/route";

/** A door that answers these statuses in turn, and what was asked of it and waited. */
function playDoor(statuses: number[], options: Partial<RetryingFetchOptions> = {}) {
  const bodies: unknown[] = [];
  const waitedMs: number[] = [];
  const fetch: Fetch = async (_url, init) => {
    bodies.push(init.body);
    const status = statuses[bodies.length - 1];
    return new Response(`answer ${bodies.length}`, { status, headers: status === 503 ? { "retry-after": "1" } : {} });
  };
  const retryingFetch = createRetryingFetch({
    fetch,
    retry: { attemptsMax: 3, firstMs: 100, maxMs: 5000 },
    timeoutMs: 10_000,
    wait: async (delayMs) => void waitedMs.push(delayMs),
    random: () => 0,
    ...options,
  });
  return { retryingFetch, bodies, waitedMs };
}

describe("createRetryingFetch", () => {
  test("A request is sent again with the same body until it is served", async () => {
    const { retryingFetch, bodies, waitedMs } = playDoor([503, 503, 200]);
    const body = Uint8Array.of(1, 2, 3, 4);
    const response = await retryingFetch(URL_ASKED, { method: "POST", body });
    expect([response.status, await response.text()]).toEqual([200, "answer 3"]);
    expect(bodies).toEqual([body, body, body]);
    expect(waitedMs).toEqual([1100, 1200]);
  });

  test("After the last try the 503 is the answer, with its body", async () => {
    const { retryingFetch, bodies } = playDoor([503, 503, 503, 200]);
    const response = await retryingFetch(URL_ASKED, { method: "POST" });
    expect([response.status, await response.text(), bodies.length]).toEqual([503, "answer 3", 3]);
  });

  test("A conflict is asked once", async () => {
    const { retryingFetch, bodies } = playDoor([409, 200]);
    expect((await retryingFetch("http://warmpath.test/v1/instances", { method: "POST" })).status).toBe(409);
    expect(bodies).toHaveLength(1);
  });

  test("The signal ends the wait for the next try, with its own reason and without another request", async () => {
    const abort = new AbortController();
    let count = 0;
    const retryingFetch = createRetryingFetch({
      fetch: async () => new Response(`answer ${++count}`, { status: 503 }),
      retry: { attemptsMax: 2, firstMs: 3_600_000, maxMs: 3_600_000 },
      timeoutMs: 10_000,
    });
    const asked = retryingFetch(URL_ASKED, { signal: abort.signal });
    setTimeout(() => abort.abort(new Error("nobody waits any more")), 1);
    await expect(asked).rejects.toThrow("nobody waits any more");
    expect(count).toBe(1);
  });

  test("A connection that fails is not tried again", async () => {
    let count = 0;
    const { retryingFetch } = playDoor([], {
      fetch: async () => {
        count++;
        throw new TypeError("connection refused");
      },
    });
    await expect(retryingFetch(URL_ASKED, {})).rejects.toThrow("connection refused");
    expect(count).toBe(1);
  });

  test("A try that takes longer than its limit rejects with a TimeoutError", async () => {
    const { retryingFetch } = playDoor([], {
      timeoutMs: 1,
      fetch: (_url, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const failed = await retryingFetch(URL_ASKED, {}).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(DOMException);
    expect(failed).toHaveProperty("name", "TimeoutError");
  });
});

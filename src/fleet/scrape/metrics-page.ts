/** Fetches an engine's `/metrics`: one GET, bounded in time and size, no redirects. Never throws. */

import { PAGE_BYTES_MAX } from "./exposition.ts";

/** What is needed of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** `problem` is a clause for the person on call. */
export type MetricsPage = { kind: "page"; page: string } | { kind: "failed"; problem: string };

/** The text format that every engine has, and no compression, which would cost both sides more than it saves in a rack. */
const HEADERS = { accept: "text/plain;version=0.0.4", "accept-encoding": "identity" };

/** `address` is `host:port`. Ends at once when `stopped` aborts; what it answers then is of no use. */
export async function fetchMetricsPage(
  fetch: Fetch,
  address: string,
  timeoutMs: number,
  stopped: AbortSignal,
): Promise<MetricsPage> {
  const timedOut = AbortSignal.timeout(timeoutMs);
  try {
    const signal = AbortSignal.any([timedOut, stopped]);
    const response = await fetch(`http://${address}/metrics`, { headers: HEADERS, redirect: "manual", signal });
    if (response.status !== 200) {
      // The connection is not kept for a body that nobody reads.
      await response.body?.cancel();
      return failed(`/metrics answered ${response.status}, 200 is needed`);
    }
    return await readBody(response);
  } catch (error) {
    if (timedOut.aborted) return failed(`/metrics was not answered whole within ${timeoutMs} ms`);
    return failed(`/metrics cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readBody(response: Response): Promise<MetricsPage> {
  const decoder = new TextDecoder();
  let page = "";
  let bytes = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > PAGE_BYTES_MAX) return failed(`/metrics is larger than ${PAGE_BYTES_MAX} bytes`);
    page += decoder.decode(chunk, { stream: true });
  }
  return { kind: "page", page: page + decoder.decode() };
}

function failed(problem: string): MetricsPage {
  return { kind: "failed", problem };
}

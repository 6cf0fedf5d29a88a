/** Puts the typed client together: Eden's treaty over the door's type, with time limits, retries and the token on every request. */

import { type Treaty, treaty } from "@elysiajs/eden";
import type { App } from "#http";
import { mendRoutes } from "./mended-routes.ts";
import { encodePrompt } from "./prompt-body.ts";
import { DEFAULT_RETRY_LIMITS, type RetryLimits } from "./retry.ts";
import { createRetryingFetch, type Fetch } from "./retrying-fetch.ts";

/** Every route of Warmpath: `api.v1.instances({ name }).get()` is `GET /v1/instances/{name}`. */
export type Api = Treaty.Create<App>;

type QueryRoute = Api["v1"]["internal"]["kv-cache"]["query"]["post"];

type RouteRoute = Api["v1"]["route"]["post"];

type RequestOf<Route extends (body: never) => unknown, Body = Parameters<Route>[0]> = Extract<Body, { token_ids: unknown }>;

/** What a query may say beside its tokens. */
export type QueryFields = Omit<RequestOf<QueryRoute>, "token_ids">;

/** What a request for a decision may say beside its tokens. */
export type RouteFields = Omit<RequestOf<RouteRoute>, "token_ids">;

/** A decision of one request. */
export type Decision = Exclude<Treaty.Data<RouteRoute>, { decisions: unknown }>;

export type QueryAnswer = Awaited<ReturnType<QueryRoute>>;

/** That of one request: a body of tokens alone is never a batch. */
export type RouteAnswer = OneDecision<Awaited<ReturnType<RouteRoute>>>;

type OneDecision<Answer> = Answer extends { error: null } ? Omit<Answer, "data"> & { data: Decision } : Answer;

export interface PromptOptions {
  /** Ends the request, also while it waits for its next try. */
  signal?: AbortSignal;
}

export interface ClientOptions {
  /** Sent as `X-Internal-Token`; what `internal_api_token` of the service is. */
  internalApiToken?: string;
  /** Further headers of every request. */
  headers?: Record<string, string>;
  /** How requests that are answered 503 are tried again: 4 tries, 100 ms and doubling between them, 5 s at most. */
  retry?: Partial<RetryLimits>;
  /** Milliseconds for one try, the answer's body included; 10 s unless it is said. */
  timeoutMs?: number;
  /** How the service is reached: certificates, a proxy, a Unix socket. */
  connection?: Pick<BunFetchRequestInit, "tls" | "proxy" | "unix">;
  /** Sends a request in the place of `fetch`. */
  fetch?: Fetch;
}

export interface Client {
  /** All routes. What Warmpath refuses is an answer too: `error.value` is its problem document. */
  readonly api: Api;
  /**
   * Who holds how much of a prompt: `POST /v1/internal/kv-cache/query` with the tokens as bytes. `tokens` must stay as they are until
   * the answer is there, since they are not copied.
   */
  query(tokens: Uint32Array<ArrayBuffer>, fields?: QueryFields, options?: PromptOptions): Promise<QueryAnswer>;
  /** Where a request should go: `POST /v1/route`, likewise. */
  route(tokens: Uint32Array<ArrayBuffer>, fields?: RouteFields, options?: PromptOptions): Promise<RouteAnswer>;
}

/** Far longer than any answer takes, and an end for a connection that has died. */
const TIMEOUT_MS = 10_000;

/**
 * A client of the Warmpath at `baseUrl`, http:// or https://, with or without a path. It opens nothing until something is asked.
 * Requests reject when no answer comes: with `fetch`'s error, a TimeoutError, or the signal's reason. Throws TypeError for another
 * URL, RangeError for limits that bound nothing.
 */
export function createClient(baseUrl: string, options: ClientOptions = {}): Client {
  const { internalApiToken = "", headers = {}, retry = {}, timeoutMs = TIMEOUT_MS, connection = {} } = options;
  const limits = requireLimits({ ...DEFAULT_RETRY_LIMITS, ...retry });
  const eden = treaty<App>(requireBaseUrl(baseUrl), {
    fetcher: createRetryingFetch({ fetch: options.fetch ?? fetch, retry: limits, timeoutMs }) as typeof fetch,
    // Warmpath redirects nowhere, and the token is for nobody else.
    fetch: { redirect: "error", ...connection },
    headers: { ...headers, ...(internalApiToken !== "" && { "x-internal-token": internalApiToken }) },
    // A text that looks like a date is a text: a name, a salt, a reason.
    parseDate: false,
  });
  const api = mendRoutes(eden);
  const send = (post: unknown, tokens: Uint32Array<ArrayBuffer>, fields: object, { signal }: PromptOptions) => {
    const { contentType, bytes, query } = encodePrompt(tokens, { ...fields });
    const sent = { headers: { "content-type": contentType }, query, fetch: { body: bytes, ...(signal && { signal }) } };
    // The types know the bodies as objects, and Eden would write the bytes as one; as part of `fetch` it leaves them alone.
    return (post as (body: undefined, sent: object) => Promise<never>)(undefined, sent);
  };
  return {
    api,
    query: (tokens, fields = {}, promptOptions = {}) =>
      send(api.v1.internal["kv-cache"].query.post, tokens, fields, promptOptions),
    route: (tokens, fields = {}, promptOptions = {}) => send(api.v1.route.post, tokens, fields, promptOptions),
  };
}

/** The URL without the slash at its end, if it is one that paths can be put behind. */
function requireBaseUrl(text: string): string {
  const url = URL.parse(text);
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (isUsable) return url.href.replace(/\/+$/, "");
  throw new TypeError(`Cannot create a client: found the URL ${JSON.stringify(text)}, http(s)://host[:port][/path] is needed`);
}

function requireLimits(limits: RetryLimits): RetryLimits {
  const { attemptsMax, firstMs, maxMs } = limits;
  if (Number.isSafeInteger(attemptsMax) && attemptsMax >= 1 && firstMs >= 0 && maxMs >= firstMs && maxMs < 2 ** 31) return limits;
  throw new RangeError(
    `Cannot create a client: found the retry limits ${JSON.stringify(limits)}, attemptsMax from 1 and firstMs up to maxMs are needed`,
  );
}

/** What the client of a soak asks: good requests in every form, wrong ones of every kind, and what an answer must look like. */

import { encode } from "@msgpack/msgpack";
import type { SeededRandom } from "#sim";
import type { QueryMatch, RouteAnswer } from "./answers.ts";
import { checkDecision, checkMatches } from "./answers.ts";

const QUERY = "/v1/internal/kv-cache/query";
const ROUTE = "/v1/route";

const JSON_TYPE = "application/json";
const BINARY_TYPE = "application/octet-stream";
const MESSAGE_PACK_TYPE = "application/msgpack";

/** One more than any prompt may have. */
const TOO_MANY_TOKENS = 2 ** 20 + 1;

const BATCH_PROMPTS = 16;

/** Bytes of a body beyond every limit, which is read to its end and refused. */
const HUGE_BODY_BYTES = 14_000_000;

export interface SoakRequest {
  name: string;
  method: "GET" | "POST" | "DELETE" | "PUT";
  path: string;
  type?: string;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Every status that is documented and makes sense. */
  allowed: readonly number[];
  /** What is wrong with a good answer; null: nothing. */
  check?: (answer: unknown) => string | null;
}

type Maker = (prompt: Uint32Array, random: SeededRandom) => SoakRequest;

const matches = (tokenCount: number) => (answer: unknown) => checkMatches(answer as { matches: QueryMatch[] }, tokenCount);
const decision = (answer: unknown) => checkDecision(answer as RouteAnswer);
const decisions = (answer: unknown) =>
  (answer as { decisions: unknown[] }).decisions.length === BATCH_PROMPTS ? null : "another number of decisions than of requests";

/** 503: not ready, no instance, busy, overloaded. */
const ASKED = [200, 503];

const MAKERS: readonly [weight: number, maker: Maker][] = [
  [10, (prompt) => query("JSON", JSON_TYPE, jsonOf({ token_ids: [...prompt] }), prompt.length)],
  [20, (prompt) => query("binary", BINARY_TYPE, bytesOf(prompt), prompt.length)],
  [10, (prompt) => query("MessagePack", MESSAGE_PACK_TYPE, encode({ token_ids: bytesOf(prompt) }), prompt.length)],
  [2, () => query("nothing", JSON_TYPE, jsonOf({ token_ids: [] }), 0)],
  [10, (prompt) => route("JSON", JSON_TYPE, jsonOf({ token_ids: [...prompt] }))],
  [20, (prompt, random) => route("binary", BINARY_TYPE, bytesOf(prompt), `?request_id=${random.nextUint32()}&explain=false`)],
  [10, (prompt) => route("MessagePack", MESSAGE_PACK_TYPE, encode({ token_ids: [...prompt], cache_salt: "soak" }))],
  [
    3,
    (prompt) => {
      const entry = { token_ids: [...prompt.subarray(0, 256)], explain: false };
      const body = jsonOf({ requests: Array(BATCH_PROMPTS).fill(entry) });
      return { ...route("batch", JSON_TYPE, body), check: decisions };
    },
  ],
  [
    5,
    (_, random) => {
      const path = `${ROUTE}/${random.nextUint32()}/finished`;
      return { ...post("finished", path, JSON_TYPE, jsonOf({ phase: "cancel" })), allowed: [204, 404] };
    },
  ],
  [2, () => get("metrics", "/metrics", [200])],
  [2, () => get("instances", "/v1/instances", [200])],
  [2, () => get("health", "/healthz", [200])],
  [2, () => get("readiness", "/readyz", [200, 503])],
  [1, () => get("page", "/", [200])],
  [1, () => get("document", "/openapi/json", [200])],
  [1, (_, random) => get("unknown path", `/${random.nextUint32()}`, [404])],
  [1, (_, random) => get("unknown instance", `/v1/instances/${random.nextUint32()}`, [404])],
  [1, () => ({ name: "wrong method", method: "PUT", path: ROUTE, allowed: [405] })],
  [1, () => wrong("broken JSON", QUERY, JSON_TYPE, '{"token_ids":[1,2', [400])],
  [1, () => wrong("broken MessagePack", ROUTE, MESSAGE_PACK_TYPE, new Uint8Array([0x81, 0xa9, 0x74]), [400])],
  [1, () => wrong("half a token", QUERY, BINARY_TYPE, new Uint8Array(7), [400, 422])],
  [1, () => wrong("wrong token", ROUTE, JSON_TYPE, '{"token_ids":[-1]}', [422])],
  [1, () => wrong("wrong type", ROUTE, "text/plain", "hello", [415])],
  [1, () => wrong("wrong field", QUERY, JSON_TYPE, '{"token_ids":[],"colour":"red"}', [422])],
  [1, () => wrong("wrong registration", "/v1/instances", JSON_TYPE, '{"name":7,"engine":"abacus"}', [422])],
  [1, () => wrong("wrong heartbeat", "/v1/internal/heartbeat", JSON_TYPE, '{"load_metrics":{}}', [400])],
  [1, (_, random) => wrong("unknown heartbeat", "/v1/internal/heartbeat", JSON_TYPE, `{"name":"${random.nextUint32()}"}`, [409])],
];

const WEIGHTS = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

/** One by chance. */
export function nextRequest(prompts: readonly Uint32Array[], random: SeededRandom): SoakRequest {
  const prompt = prompts[random.integerBelow(prompts.length)];
  let left = random.integerBelow(WEIGHTS);
  for (const [weight, maker] of MAKERS) {
    left -= weight;
    if (left < 0) return maker(prompt, random);
  }
  throw new Error("The weights do not add up");
}

/** What takes much memory for a moment: the largest prompt, one more token, and a body beyond every limit. */
export function hugeRequests(): SoakRequest[] {
  const largest = new Uint32Array(TOO_MANY_TOKENS - 1);
  return [
    query("largest", BINARY_TYPE, bytesOf(largest), largest.length),
    wrong("too many tokens", ROUTE, BINARY_TYPE, bytesOf(new Uint32Array(TOO_MANY_TOKENS)), [413, 422]),
    wrong("huge body", QUERY, JSON_TYPE, new Uint8Array(HUGE_BODY_BYTES).fill(0x20), [413]),
  ];
}

function query(form: string, type: string, body: string | Uint8Array<ArrayBuffer>, tokenCount: number): SoakRequest {
  return { ...post(`query ${form}`, QUERY, type, body), allowed: ASKED, check: matches(tokenCount) };
}

function route(form: string, type: string, body: string | Uint8Array<ArrayBuffer>, parameters = ""): SoakRequest {
  return { ...post(`route ${form}`, `${ROUTE}${parameters}`, type, body), allowed: ASKED, check: decision };
}

/** One that must be refused; where many are under way it may be before it is looked at. */
function wrong(
  name: string,
  path: string,
  type: string,
  body: string | Uint8Array<ArrayBuffer>,
  statuses: readonly number[],
): SoakRequest {
  return { ...post(name, path, type, body), allowed: [...statuses, 503] };
}

function post(name: string, path: string, type: string, body: string | Uint8Array<ArrayBuffer>): Omit<SoakRequest, "allowed"> {
  return { name, method: "POST", path, type, body };
}

function get(name: string, path: string, allowed: readonly number[]): SoakRequest {
  return { name, method: "GET", path, allowed };
}

function jsonOf(value: object): string {
  return JSON.stringify(value);
}

function bytesOf(tokens: Uint32Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(tokens.slice().buffer);
}

import { afterAll, beforeAll, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import type { BatchAnswer, DecisionAnswer } from "../../../src/http/route/schema.ts";
import { HITS_AGAINST_QUEUES } from "./fleets.ts";
import { promptTokens } from "./played-rank.ts";
import { RouteSite } from "./route-site.ts";

interface Prompt {
  token_ids: number[];
  cache_salt?: string;
}

/** A whole one, one that ends within a block, one that only s holds, and none. */
const PROMPTS: readonly Prompt[] = [
  { token_ids: promptTokens() },
  { token_ids: promptTokens(150) },
  { token_ids: promptTokens(), cache_salt: "tenant & co" },
  { token_ids: [] },
];

let site: RouteSite;

beforeAll(async () => {
  const salted = { ranks: [{ device: 8, salt: "tenant & co" }], load: { waiting: 3 } };
  site = await RouteSite.of({ ...HITS_AGAINST_QUEUES, "s:1": salted });
});

afterAll(() => site?.stop());

async function post<Body>(type: string, body: Uint8Array | string, query = ""): Promise<Body> {
  const init = { method: "POST", headers: { "content-type": type }, body: typeof body === "string" ? body : body.slice() };
  const response = await fetch(`${site.url}/v1/route${query}`, init);
  if (response.status !== 200) throw new Error(`Cannot route: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

function bytesOf({ token_ids }: Prompt): Uint8Array {
  return new Uint8Array(Uint32Array.from(token_ids).buffer);
}

/** Each prompt by itself. */
function postEach(send: (prompt: Prompt) => Promise<DecisionAnswer>): () => Promise<DecisionAnswer[]> {
  return () => Promise.all(PROMPTS.map(send));
}

async function postBatch(type: string, body: Uint8Array | string): Promise<BatchAnswer["decisions"]> {
  return (await post<BatchAnswer>(type, body)).decisions;
}

const FORMS: Record<string, () => Promise<BatchAnswer["decisions"]>> = {
  JSON: postEach((prompt) => post("application/json", JSON.stringify(prompt))),
  "MessagePack with an array": postEach((prompt) => post("application/msgpack", encode(prompt))),
  "MessagePack with bytes": postEach((prompt) => post("application/msgpack", encode({ ...prompt, token_ids: bytesOf(prompt) }))),
  bytes: postEach((prompt) => {
    const query = prompt.cache_salt === undefined ? "" : `?cache_salt=${encodeURIComponent(prompt.cache_salt)}`;
    return post("application/octet-stream", bytesOf(prompt), query);
  }),
  "a batch in JSON": () => postBatch("application/json", JSON.stringify({ requests: PROMPTS })),
  "a batch in MessagePack": () =>
    postBatch("application/msgpack", encode({ requests: PROMPTS.map((prompt) => ({ ...prompt, token_ids: bytesOf(prompt) })) })),
};

/** No two candidates cost the same, so that turns play no part; every request has an id of its own. */
async function decisions(form: string): Promise<object[]> {
  return (await FORMS[form]()).map((decision) => ({ ...decision, request_id: null }));
}

test("Prompts in JSON go where their prefixes and the queues say", async () => {
  // Queues are 4, 1, 2 and 3 of 4. Plain: a 0.5·0 + 0.5·1, b 0.5 + 0.125. Ending within a block: a 0.5·(1 − 144/150) + 0.5.
  // Salted: s 0.5·0.2 + 0.5·0.75. Empty: b has the shortest queue.
  expect(await decisions("JSON")).toMatchObject([
    { prefill: { instance_name: "a:1", score: 0.5 } },
    { prefill: { instance_name: "a:1", score: expect.closeTo(0.52, 9) } },
    { prefill: { instance_name: "s:1", score: expect.closeTo(0.475, 9) } },
    { prefill: { instance_name: "b:1", score: 0.625 } },
  ]);
});

for (const form of Object.keys(FORMS)) {
  test(`The decisions of prompts as ${form} are those of the prompts in JSON`, async () => {
    expect(await decisions(form)).toEqual(await decisions("JSON"));
  });
}

import { expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import { TOKENS_MAX } from "#domain";
import { createFakeApp } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";
import { A, createRoutedApp, postBytes, ROUTE, readDecisions } from "./route-scene.ts";

const bin = (tokens: number[]) => new Uint8Array(new Uint32Array(tokens).buffer);
const jsonBytes = (body: unknown) => new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));

test.each([
  ["JSON", jsonBytes({ requests: [{ token_ids: [1, 2] }, { token_ids: [3], cache_salt: "" }] }), "application/json"],
  [
    "JSON with a byte order mark and spaces",
    jsonBytes('\ufeff { "requests" : [ { "token_ids" : [ 1, 2 ] } , { "token_ids" : [3] } ] } '),
    "application/json",
  ],
  ["MessagePack", encode({ requests: [{ token_ids: [1, 2] }, { token_ids: bin([3]), cache_salt: "" }] }), "application/msgpack"],
])("A batch in %s is decided entry by entry, each for its own tokens", async (_, body, type) => {
  const scene = await createRoutedApp();
  const decisions = await readDecisions(await postBytes(scene, body, type));
  expect(decisions).toHaveLength(2);
  expect(scene.directory.asked.map(({ tokens }) => tokens)).toEqual([[1, 2], [3]]);
});

test("A batch is decided in order, so that each decision counts those before it", async () => {
  const scene = await createRoutedApp([A], { routing: { trackInFlight: true } });
  const requests = [{ token_ids: [1], request_id: "a" }, { token_ids: [2] }, { token_ids: [3] }];
  const decisions = await readDecisions(await scene.send("POST", ROUTE, { requests }, { "x-request-id": "x" }));
  expect(decisions.map((decision) => "error" in decision || decision.candidates?.[0]?.in_flight_requests)).toEqual([0, 1, 2]);
  expect(decisions.map((decision) => "error" in decision || decision.request_id)).toEqual(["a", "x/1", "x/2"]);
});

test("A batch takes each entry's own wish for candidates", async () => {
  const scene = await createRoutedApp();
  const requests = [{ token_ids: [1], explain: false }, { token_ids: [1] }];
  const decisions = await readDecisions(await scene.send("POST", ROUTE, { requests }));
  expect(decisions.map((decision) => "candidates" in decision)).toEqual([false, true]);
});

test("A batch of nothing decides nothing", async () => {
  const scene = await createRoutedApp();
  expect(await readDecisions(await scene.send("POST", ROUTE, { requests: [] }))).toEqual([]);
  expect(scene.directory.asked).toEqual([]);
});

const GOOD = '{"token_ids":[1]}';

test.each([
  ["a token that is none", '{"token_ids":[1,-2]}', "invalid-fields", "/requests/1/token_ids/1", 47],
  ["no tokens", '{"cache_salt":"s"}', "invalid-fields", "/requests/1/token_ids", undefined],
  ["an unknown field", '{"token_ids":[1],"modle":1}', "invalid-fields", "/requests/1/modle", undefined],
  ["a batch within", `{"requests":[${GOOD}]}`, "invalid-fields", "/requests/1/token_ids", undefined],
  ["a field twice", '{"token_ids":[1],"token_ids":[1]}', "malformed-body", "/requests/1", 48],
  ["no object", "7", "malformed-body", "/requests/1", 31],
])("A batch loses the entry with %s alone, and says where it is", async (_, entry, kind, pointer, offset) => {
  const scene = await createRoutedApp();
  const decisions = await readDecisions(await scene.send("POST", ROUTE, `{"requests":[${GOOD},${entry},${GOOD}]}`));
  expect(decisions.map((decision) => "error" in decision)).toEqual([false, true, false]);
  const [, failed] = decisions;
  if (failed === undefined || !("error" in failed)) throw new Error("The entry did not fail");
  expect(failed.error).toMatchObject({ type: `/problems/${kind}`, errors: [{ pointer, ...(offset && { offset }) }] });
});

test("A batch in MessagePack loses a bad entry alone, and says where it is", async () => {
  const scene = await createRoutedApp();
  const requests = [{ token_ids: [1] }, { token_ids: [1, -2] }, [], { token_ids: bin([1]).subarray(1) }, { token_ids: [1] }];
  const decisions = await readDecisions(await postBytes(scene, encode({ requests }), "application/msgpack"));
  expect(decisions.map((decision) => ("error" in decision ? decision.error.errors?.[0]?.pointer : null))).toEqual([
    null,
    "/requests/1/token_ids/1",
    "/requests/2",
    "/requests/3/token_ids",
    null,
  ]);
});

test("A batch says of each entry that nothing can serve, and of an index that was busy", async () => {
  const scene = createFakeApp();
  const requests = [{ token_ids: [1] }, { token_ids: [2] }];
  const none = await readDecisions(await scene.send("POST", ROUTE, { requests }));
  expect(none.map((decision) => "error" in decision && decision.error.type)).toEqual(Array(2).fill("/problems/no-instance"));
  scene.directory.answer = "busy";
  const busy = await readDecisions(await scene.send("POST", ROUTE, { requests }));
  expect(busy.map((decision) => "error" in decision && decision.error.type)).toEqual(Array(2).fill("/problems/busy"));
});

test("A batch may have as many tokens in all as one prompt; an entry beyond that is lost alone", async () => {
  const scene = await createRoutedApp();
  const entry = (tokenCount: number) => ({ token_ids: new Uint8Array(tokenCount * 4), explain: false });
  const requests = [entry(TOKENS_MAX - 2), entry(3), entry(2), entry(1), entry(0)];
  const decisions = await readDecisions(await postBytes(scene, encode({ requests }), "application/msgpack"));
  expect(decisions.map((decision) => ("error" in decision ? decision.error.type : null))).toEqual([
    null,
    "/problems/too-many-tokens",
    null,
    "/problems/too-many-tokens",
    null,
  ]);
});

test.each([
  ["JSON", jsonBytes, "application/json"],
  ["MessagePack", encode, "application/msgpack"],
])("A batch in %s has at most 256 entries", async (_, write, type) => {
  const scene = await createRoutedApp();
  const requests = Array(256).fill({ token_ids: [1], explain: false });
  expect(await readDecisions(await postBytes(scene, write({ requests }), type))).toHaveLength(256);
  scene.directory.asked.length = 0;
  const response = await postBytes(scene, write({ requests: [...requests, {}] }), type);
  expect(response.status).toBe(422);
  expect((await readProblem(response)).errors?.[0]).toMatchObject({
    pointer: "/requests",
    detail: "found more entries, at most 256 are allowed",
  });
  expect(scene.directory.asked).toEqual([]);
});

test.each([
  ['{"requests":[{"token_ids":[1]}', 400],
  ['{"requests":[{"token_ids":[1]}]}x', 400],
  ['{"requests":[{"token_ids":[1,}]}', 400],
  ['{"requests":7}', 422],
  ['{"requests":{}}', 422],
  ['{"requests":[],"token_ids":[1]}', 422],
  ['{"token_ids":[1],"requests":[{"token_ids":[1]}]}', 422],
  ['{"requests":[{"token_ids":[1]}],"cache_salt":"s"}', 422],
  ['{"requests":[],"requests":[]}', 400],
])("A batch is refused whole, with nothing decided, when its body is %s", async (body, status) => {
  const scene = await createRoutedApp();
  expect((await scene.send("POST", ROUTE, body)).status).toBe(status);
  expect(scene.directory.asked).toEqual([]);
});

test.each([{ requests: 7 }, { requests: {} }, { requests: [], cache_salt: "s" }])(
  "A batch in MessagePack is refused whole when it is %j",
  async (body) => {
    const scene = await createRoutedApp();
    const response = await postBytes(scene, encode(body), "application/msgpack");
    expect(response.status).toBe(422);
    expect((await readProblem(response)).errors?.[0]?.pointer).toBe("/requests");
  },
);

test("A batch in MessagePack that is cut off is refused whole, with nothing decided", async () => {
  const scene = await createRoutedApp();
  const whole = encode({ requests: [{ token_ids: [1] }, { token_ids: [1, 2, 3] }] });
  for (let length = 0; length < whole.length; length++) {
    expect((await postBytes(scene, whole.subarray(0, length), "application/msgpack")).status).toBe(400);
  }
  expect(scene.directory.asked).toEqual([]);
});

test("The query takes no batch", async () => {
  const { post } = createFakeApp();
  const { errors } = await readProblem(await post('{"requests":[],"token_ids":[1]}'));
  expect(errors?.[0]?.pointer).toBe("/requests");
});

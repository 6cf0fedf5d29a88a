import { expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { unsynchronized } from "#domain";
import { queryAnswer } from "../../../src/http/query/schema.ts";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { readMatches, readProblem } from "../read-answer.ts";

test("The query route answers exactly the fields of its contract, blocks as tokens", async () => {
  const { directory, post } = createFakeApp();
  directory.answer = [streamMatch("10.0.0.5:8000", 0, { diskOnlyHitBlocks: 2 })];
  const response = await post('{"token_ids":[1,2,3]}');
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toStartWith("application/json");
  expect(await response.json()).toEqual({
    matches: [
      {
        instance_name: "10.0.0.5:8000",
        dp_rank: 0,
        synchronized: true,
        coverage: "full",
        sequence: 7,
        device_hit_tokens: 384,
        host_only_hit_tokens: 128,
        disk_only_hit_tokens: 256,
        reusable_prefix_tokens: 768,
        device_blocks: 10,
        host_blocks: 5,
        disk_blocks: 2,
        error: null,
      },
    ],
  });
});

test("The query route says why a stream is not synchronized", async () => {
  const { directory, post } = createFakeApp();
  const none = { deviceHitBlocks: 0, hostOnlyHitBlocks: 0 };
  directory.answer = [streamMatch("a", 0, { ...none, unsynchronized: unsynchronized("gap", 12, 14) })];
  const matches = await readMatches(await post('{"token_ids":[1]}'));
  expect(matches[0]).toMatchObject({
    synchronized: false,
    error: "gap: batch 12 expected, batch 14 arrived",
    reusable_prefix_tokens: 0,
  });
});

test("The query route says when it does not know all blocks of a stream", async () => {
  const { directory, post } = createFakeApp();
  directory.answer = [streamMatch("a", 0, { coverage: "partial" }), streamMatch("b", 0)];
  const matches = await readMatches(await post('{"token_ids":[1]}'));
  expect(matches.map((match) => match.coverage)).toEqual(["partial", "full"]);
});

test("The query route sorts by instance name in code unit order, then by rank as a number", async () => {
  const { directory, post } = createFakeApp();
  directory.answer = [
    ["b", 10],
    ["b", 9],
    ["a", 0],
    ["B", 1],
    ["é", 0],
  ].map(([name, rank]) => streamMatch(String(name), Number(rank)));
  const matches = await readMatches(await post('{"token_ids":[]}'));
  expect(matches.map((match) => [match.instance_name, match.dp_rank])).toEqual([
    ["B", 1],
    ["a", 0],
    ["b", 9],
    ["b", 10],
    ["é", 0],
  ]);
});

test("The query route's answer meets its declared schema, which nothing checks while it serves", async () => {
  const { directory, post } = createFakeApp();
  const unlike = { unsynchronized: unsynchronized("disconnected"), coverage: "partial" } as const;
  directory.answer = [streamMatch("a", 0), streamMatch("a", 1, unlike)];
  const compiled = TypeCompiler.Compile(queryAnswer);
  expect([...compiled.Errors(await (await post('{"token_ids":[1]}')).json())]).toEqual([]);
});

const binary = new Uint8Array(new Uint32Array([5, 6, 70_000]).buffer);

test.each([
  ["JSON", '{"instance_names":["a","b"],"token_ids":[5,6,70000]}', "application/json", ""],
  ["JSON with a charset", '{"instance_names":["a","b"],"token_ids":[5,6,70000]}', "Application/JSON; charset=utf-8", ""],
  ["MessagePack", encode({ token_ids: [5, 6, 70_000], instance_names: ["a", "b"] }), "application/msgpack", ""],
  ["MessagePack by its older name", encode({ token_ids: binary, instance_names: ["a", "b"] }), "application/x-msgpack", ""],
  ["binary", binary, "application/octet-stream", "?instance_names=a,b"],
])("The query route matches the tokens and the filter of a %s body", async (_, body, type, query) => {
  const { directory, post } = createFakeApp();
  expect((await post(body, type, query)).status).toBe(200);
  expect(directory.asked).toEqual([{ tokens: [5, 6, 70_000], instanceNames: ["a", "b"], namespace: null }]);
});

test.each([
  ['{"token_ids":[]}', null],
  ['{"token_ids":[],"instance_names":null,"lora_name":null,"cache_salt":null,"extra_keys":null}', null],
  ['{"token_ids":[],"instance_names":[]}', []],
  ['{"token_ids":[],"instance_names":["a","a"]}', ["a"]],
])("The query route asks for status alone with %s", async (body, instanceNames) => {
  const { directory, post } = createFakeApp();
  expect((await post(body)).status).toBe(200);
  expect(directory.asked).toEqual([{ tokens: [], instanceNames, namespace: null }]);
});

test("The query route does not mix the tokens of requests whose bodies arrive together", async () => {
  const { directory, post } = createFakeApp();
  const prompts = Array.from({ length: 20 }, (_, first) => [first, first + 1, first + 2]);
  await Promise.all(prompts.map((token_ids) => post(JSON.stringify({ token_ids }))));
  expect(directory.asked.map(({ tokens }) => tokens).toSorted(([left = 0], [right = 0]) => left - right)).toEqual(prompts);
});

const jsonBody = (fields: object) => JSON.stringify({ token_ids: [1], ...fields });

test.each([
  [
    "modle",
    jsonBody({ modle: 1 }),
    "application/json",
    "",
    "found an unknown field, allowed are token_ids, instance_names, lora_name, cache_salt, extra_keys",
  ],
  [
    "modle",
    jsonBody({ modle: null }),
    "application/json",
    "",
    "found an unknown field, allowed are token_ids, instance_names, lora_name, cache_salt, extra_keys",
  ],
  [
    "a~1b",
    jsonBody({ "a/b": 1 }),
    "application/json",
    "",
    "found an unknown field, allowed are token_ids, instance_names, lora_name, cache_salt, extra_keys",
  ],
  [
    "token_ids",
    binary,
    "application/octet-stream",
    "?token_ids=1",
    "found an unknown field, allowed are token_ids, instance_names, lora_name, cache_salt, extra_keys",
  ],
  [
    "instance_names",
    jsonBody({ instance_names: "a" }),
    "application/json",
    "",
    'found "a", at most 1024 nonempty strings are allowed',
  ],
  ["instance_names/1", jsonBody({ instance_names: ["a", ""] }), "application/json", "", 'found "", nonempty strings are allowed'],
  ["instance_names/1", jsonBody({ instance_names: ["a", 7] }), "application/json", "", "found 7, nonempty strings are allowed"],
  ["instance_names/1", binary, "application/octet-stream", "?instance_names=a,", 'found "", nonempty strings are allowed'],
])("The query route refuses the field %s of %p", async (pointer, body, type, query, detail) => {
  const { directory, post } = createFakeApp();
  const response = await post(body, type, query);
  expect(response.status).toBe(422);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(await response.json()).toEqual({
    type: "/problems/invalid-fields",
    title: "Fields of the request are not valid",
    status: 422,
    detail: `Cannot read /${pointer}: ${detail}`,
    errors: [{ pointer: `/${pointer}`, detail }],
  });
  expect(directory.asked).toEqual([]);
});

test("The query route refuses more instance names than its limit", async () => {
  const names = Array.from({ length: 1025 }, (_, index) => `instance-${index}`);
  const { post } = createFakeApp();
  expect((await post(jsonBody({ instance_names: names.slice(1) }))).status).toBe(200);
  const { errors } = await readProblem(await post(jsonBody({ instance_names: names })));
  expect(errors).toHaveLength(1);
  expect(errors?.[0]).toMatchObject({
    pointer: "/instance_names",
    detail: expect.stringContaining("at most 1024 nonempty strings"),
  });
});

test("The query route names every wrong field, up to a limit", async () => {
  const { post } = createFakeApp();
  const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`unknown_${index}`, index]));
  const { errors } = await readProblem(await post(jsonBody({ lora_name: 8, instance_names: 7 })));
  expect(errors?.map(({ pointer }) => pointer)).toEqual(["/instance_names", "/lora_name"]);
  expect((await readProblem(await post(jsonBody(unknown)))).errors).toHaveLength(16);
});

test.each([
  ["", "application/json", 400],
  ["{", "application/json", 400],
  ['{"token_ids":[1,-2]}', "application/json", 422],
  ["{}", "application/json", 422],
  ["\u0001", "application/msgpack", 400],
  ["abc", "application/octet-stream", 400],
  ["{}", "text/plain", 415],
  ["{}", "application/json+x", 415],
  ["{}", "constructor", 415],
  ["{}", null, 415],
])("The query route refuses the body %j of type %j with %d", async (body, type, status) => {
  const { directory, post } = createFakeApp();
  const response = await post(body, type);
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect((await readProblem(response)).status).toBe(status);
  expect(directory.asked).toEqual([]);
});

test("The query route lists the content types that it takes when it refuses another", async () => {
  const response = await createFakeApp().post("a=b", "application/x-www-form-urlencoded");
  expect(response.headers.get("accept-post")).toContain("application/msgpack");
  expect((await readProblem(response)).detail).toBe(
    'Cannot read the body: found content type "application/x-www-form-urlencoded", allowed are application/json, application/msgpack, application/x-msgpack, application/octet-stream',
  );
});

test("The query route answers 503 with Retry-After while the directory is not ready, without reading the body", async () => {
  const { directory, post } = createFakeApp({ notReady: ["the first discovery refresh is not finished", "no stream is set up"] });
  const response = await post("not json");
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.json()).toMatchObject({
    type: "/problems/not-ready",
    detail: "Cannot answer queries yet: the first discovery refresh is not finished; no stream is set up",
    errors: [{ detail: "the first discovery refresh is not finished" }, { detail: "no stream is set up" }],
  });
  expect(directory.asked).toEqual([]);
});

test("The query route answers 503 with Retry-After when the index was busy", async () => {
  const { directory, post } = createFakeApp();
  directory.answer = "busy";
  const response = await post('{"token_ids":[1]}');
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect((await readProblem(response)).type).toBe("/problems/busy");
});

test("The query route demands the configured token before anything else", async () => {
  const { directory, post } = createFakeApp({ internalApiToken: "secret", notReady: ["starting"] });
  for (const headers of [{}, { "x-internal-token": "Secret" }, { "x-internal-token": "" }, { "x-internal-token": "secret2" }]) {
    const response = await post("not json", "text/plain", "", headers as Record<string, string>);
    expect(response.status).toBe(401);
    expect((await readProblem(response)).type).toBe("/problems/token-required");
  }
  expect((await post('{"token_ids":[]}', "application/json", "", { "x-internal-token": "secret" })).status).toBe(503);
  expect(directory.asked).toEqual([]);
});

test("The query route lets the configured token in", async () => {
  const { post } = createFakeApp({ internalApiToken: "secret" });
  expect((await post('{"token_ids":[]}', "application/json", "", { "x-internal-token": "secret" })).status).toBe(200);
});

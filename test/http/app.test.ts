import { expect, test } from "bun:test";
import { createApp } from "#http";
import { createFakeApp } from "./fake-directory.ts";
import { readProblem } from "./read-answer.ts";

const request = (path: string, method = "GET", headers: Record<string, string> = {}) =>
  createFakeApp().app.handle(new Request(`http://localhost${path}`, { method, headers }));

test("App answers 404 with a problem document for a path that it does not have", async () => {
  const response = await request("/v1/internal/kv-cache");
  expect(response.status).toBe(404);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(await response.json()).toEqual({
    type: "/problems/not-found",
    title: "There is no such resource",
    status: 404,
    detail: 'Cannot find "/v1/internal/kv-cache": there is no such path',
  });
});

test.each([
  ["GET", "/v1/internal/kv-cache/query", "POST"],
  ["DELETE", "/healthz", "GET"],
  ["PUT", "/v1/instances", "GET, POST"],
  ["PUT", "/v1/instances/10.0.0.5:8000", "GET, DELETE"],
  ["PUT", "/v1/instances/a%2Fb/", "GET, DELETE"],
])("App answers 405 with the allowed methods to %s %s", async (method, path, allow) => {
  const response = await request(path, method);
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe(allow);
  expect((await readProblem(response)).type).toBe("/problems/method-not-allowed");
});

test.each(["/v1/instances/a/b", "/v1/instances//", "/v1/instance/a", "/v1"])("App answers 404 to PUT %s", async (path) => {
  expect((await request(path, "PUT")).status).toBe(404);
});

test("App answers an unexpected error with 500 and logs its cause, which the client does not see", async () => {
  const { directory, logged, post } = createFakeApp();
  directory.answer = new Error("index memory is gone");
  const response = await post('{"token_ids":[1]}', "application/json", "", { "x-request-id": "request-7" });
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).toContain('request id \\"request-7\\"');
  expect(text).not.toContain("index memory");
  expect(logged).toHaveLength(1);
  expect(logged[0]?.fields).toMatchObject({ request_id: "request-7", method: "POST", path: "/v1/internal/kv-cache/query" });
  expect(logged[0]?.fields?.cause).toContain("index memory is gone");
});

test("App logs nothing for what the client did wrong", async () => {
  const { logged, post } = createFakeApp();
  await post("not json");
  expect(logged).toEqual([]);
});

test.each(["/healthz", "/nowhere", "/v1/internal/kv-cache/query"])(
  "App gives the client's request id back from %s",
  async (path) => {
    expect((await request(path, "GET", { "x-request-id": "a b-C.7" })).headers.get("x-request-id")).toBe("a b-C.7");
  },
);

test.each([
  ["none", {}],
  ["an empty one", { "x-request-id": "" }],
  ["one of 129 characters", { "x-request-id": "a".repeat(129) }],
  ["one that is not ASCII", { "x-request-id": "caf\u00e9" }],
])("App makes a request id where the client sent %s", async (_, headers) => {
  const ids = await Promise.all([request("/healthz", "GET", headers), request("/nowhere", "GET", headers)]);
  const [first, second] = ids.map((response) => response.headers.get("x-request-id"));
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toMatch(/^[0-9a-f-]{36}$/);
  expect(first).not.toBe(second);
});

test("App finds its routes whatever the length of the host's name", async () => {
  for (const host of ["a", "a:1", "[::1]:8888", "warmpath.example.internal:8888"]) {
    expect((await createFakeApp().app.handle(new Request(`http://${host}/healthz`))).status).toBe(200);
  }
});

test("App answers HEAD like GET without a body", async () => {
  const response = await request("/healthz", "HEAD");
  expect(response.status).toBe(200);
  expect(await response.text()).toBe("");
});

test("createApp refuses token memory of another length than the largest prompt", () => {
  const directory = {
    tokens: new Uint32Array(4),
    figures: { entries: 0, bytesInUse: 0, bytesMax: 0, bytesReserved: 0, loadFactor: 0 },
    match: () => [],
  };
  expect(() => createApp({ ...createFakeApp().dependencies, directory })).toThrow(
    "Invariant broken: token memory holds 1048576 tokens",
  );
});

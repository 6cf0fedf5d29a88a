import { expect, test } from "bun:test";
import { createFakeApp } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";

const A = "10.0.0.5:8000";
const PATH = "/v1/internal/heartbeat";

/** An app with instance A registered as process "first"; `beat` sends a heartbeat of it, with `fields` beside its identity. */
async function openApp(options?: Parameters<typeof createFakeApp>[0]) {
  const parts = createFakeApp(options);
  const { fleet, send } = parts;
  const registration = { name: A, engine: "vllm", incarnation_id: "first" };
  const registered = await send("POST", "/v1/instances", registration, { "x-internal-token": options?.internalApiToken ?? "" });
  expect(registered.status).toBe(201);
  const beat = (fields: object) => send("POST", PATH, { name: A, incarnation_id: "first", ...fields });
  const load = () => {
    const instance = fleet.instance(A);
    if (instance === null) throw new Error("The instance is not there");
    return fleet.loadOf(instance);
  };
  return { ...parts, beat, load };
}

test("The heartbeat route takes load and latency, and ignores unknown fields at every level", async () => {
  const { beat, fleet, load } = await openApp();
  const response = await beat({
    cache_event: { stored_cache: ["AAAAAAAAAAAAAAAAAAAAAA=="] },
    load_metrics: { waiting_requests_num: 3, gpu_cache_usage_perc: 0.42, other: { deep: [] } },
    latency_metrics: { recent_max_ttft: 120, recent_max_tbt: 25, other: null },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
  expect(load()).toMatchObject({ kind: "known", origin: "heartbeat", report: { waitingRequests: 3, cacheUsage: 0.42 } });
  expect(fleet.instance(A)?.latency).toEqual({ ttftMs: 120, tbtMs: 25 });
});

test.each([
  ['{"waiting_requests_num":"3","gpu_cache_usage_perc":0.5}', 3, 0.5],
  ['{"waiting_requests_num":"18446744073709551615","gpu_cache_usage_perc":"1e-1"}', 2 ** 64, 0.1],
  ['{"gpu_cache_usage_perc":1}', 0, 1],
  ['{"waiting_requests_num":null,"gpu_cache_usage_perc":null}', 0, 0],
  ["{}", 0, 0],
])("The heartbeat route reads the load %s as protobuf's JSON has it", async (text, waitingRequests, cacheUsage) => {
  const { beat, load } = await openApp();
  expect((await beat({ load_metrics: JSON.parse(text) })).status).toBe(200);
  expect(load()).toMatchObject({ report: { waitingRequests, cacheUsage } });
});

test.each([
  [{ waiting_requests_num: -1, gpu_cache_usage_perc: 0.5 }, "waiting_requests_num is -1"],
  [{ waiting_requests_num: 1, gpu_cache_usage_perc: 1.5 }, "gpu_cache_usage_perc is 1.5"],
  [{ waiting_requests_num: 1, gpu_cache_usage_perc: "NaN" }, "gpu_cache_usage_perc is NaN"],
  [{ waiting_requests_num: "Infinity", gpu_cache_usage_perc: 0 }, "waiting_requests_num is Infinity"],
])("The heartbeat route keeps the load %j as the reason why the instance has none", async (load_metrics, reason) => {
  const { beat, load } = await openApp();
  expect((await beat({ load_metrics })).status).toBe(200);
  expect(load()).toMatchObject({ kind: "unknown", reason: expect.stringContaining(reason) });
});

test.each([{}, { load_metrics: null, latency_metrics: null }])(
  "The heartbeat route leaves the load as it is by %j",
  async (fields) => {
    const { beat, load } = await openApp();
    await beat({ load_metrics: { waiting_requests_num: 3, gpu_cache_usage_perc: 0.5 } });
    expect((await beat(fields)).status).toBe(200);
    expect(load()).toMatchObject({ report: { waitingRequests: 3 } });
  },
);

test("The heartbeat route takes an instance without an incarnation id, known by its registration's time alone", async () => {
  const { send } = createFakeApp();
  await send("POST", "/v1/instances", { name: A, engine: "xllm", register_ts_ms: 1_790_000_000_000 });
  expect((await send("POST", PATH, { name: A })).status).toBe(200);
  expect((await send("POST", PATH, { name: A, incarnation_id: "" })).status).toBe(200);
  expect((await send("POST", PATH, { name: A, incarnation_id: "other" })).status).toBe(409);
});

test.each([
  ["nothing", "", "Cannot decode the JSON body at byte 0: the body is cut off, an object is needed"],
  ["text", "hello", 'Cannot decode the JSON body at byte 0: found "h", an object is needed'],
  ["an array", "[]", 'Cannot decode the JSON body at byte 0: found "[", an object is needed'],
  ["half an object", '{"name":"a"', 'Cannot decode the JSON body at byte 11: the body is cut off, "," or "}" is needed'],
  [
    "two objects",
    '{"name":"a"}{}',
    'Cannot decode the JSON body at byte 12: found "{", the end of the body is needed after the object',
  ],
  [
    "a name twice",
    '{"name":"a","name":"b"}',
    'Cannot decode the JSON body at byte 12: found the field "name" again, each field may be there once',
  ],
  ["a number as name", '{"name":7}', "Cannot read /name: found 7, a string is needed"],
  ["an id that is no text", '{"name":"a","incarnation_id":{}}', "Cannot read /incarnation_id: found {}, a string is needed"],
  ["a load that is a list", '{"name":"a","load_metrics":[]}', "Cannot read /load_metrics: found [], an object is needed"],
  [
    "a latency that is a number",
    '{"name":"a","latency_metrics":1}',
    "Cannot read /latency_metrics: found 1, an object is needed",
  ],
  [
    "words as a count",
    '{"name":"a","load_metrics":{"waiting_requests_num":"three"}}',
    'Cannot read /load_metrics/waiting_requests_num: found "three", a number or its text is needed',
  ],
  [
    "an empty usage",
    '{"name":"a","load_metrics":{"gpu_cache_usage_perc":""}}',
    'Cannot read /load_metrics/gpu_cache_usage_perc: found "", a number or its text is needed',
  ],
  [
    "a hexadecimal count",
    '{"name":"a","load_metrics":{"waiting_requests_num":"0x10"}}',
    'Cannot read /load_metrics/waiting_requests_num: found "0x10", a number or its text is needed',
  ],
  [
    "an endless latency",
    '{"name":"a","latency_metrics":{"recent_max_ttft":"NaN"}}',
    "Cannot read /latency_metrics/recent_max_ttft: found NaN, a finite number is needed",
  ],
])("The heartbeat route answers 400 to %s", async (_, body, detail) => {
  const { send } = createFakeApp();
  const response = await send("POST", PATH, body);
  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(await response.json()).toMatchObject({ type: "/problems/malformed-body", detail, error: "invalid heartbeat json" });
});

test.each(["{}", '{"name":""}', '{"name":null}'])("The heartbeat route says that the name is missing in %s", async (body) => {
  const response = await createFakeApp().send("POST", PATH, body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    detail: "Cannot read /name: found no name, the instance's name is needed",
    errors: [{ pointer: "/name" }],
    error: "missing instance name",
  });
});

test.each([
  [{ name: "10.0.0.9:8000" }, "it is not registered"],
  [{ incarnation_id: "second" }, 'its incarnation "second" is not the one that is registered'],
  [{ incarnation_id: "" }, 'its incarnation "" is not the one that is registered'],
])("The heartbeat route answers 409 to %j", async (fields, what) => {
  const { beat, load } = await openApp();
  const response = await beat({ load_metrics: { waiting_requests_num: 1 }, ...fields });
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({
    type: "/problems/conflict",
    detail: expect.stringContaining(what),
    error: "instance not registered or stale incarnation",
  });
  expect(load().kind).toBe("unknown");
});

test("The heartbeat route demands the configured token, before it reads the body", async () => {
  const { beat, send } = await openApp({ internalApiToken: "secret" });
  const response = await send("POST", PATH, "no json");
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ type: "/problems/token-required", error: "invalid internal token" });
  expect((await beat({})).status).toBe(401);
  expect((await send("POST", PATH, { name: A, incarnation_id: "first" }, { "x-internal-token": "secret" })).status).toBe(200);
});

test.each(["text/plain", "application/x-www-form-urlencoded"])(
  "The heartbeat route takes JSON under the content type %s",
  async (type) => {
    const { send } = await openApp();
    expect((await send("POST", PATH, { name: A, incarnation_id: "first" }, { "content-type": type })).status).toBe(200);
  },
);

test("The heartbeat route refuses a body beyond its limit with 413, announced or not", async () => {
  const { send } = createFakeApp();
  const body = JSON.stringify({ name: A, cache_event: "x".repeat(1_048_576) });
  for (const headers of [{}, { "content-length": String(body.length) }]) {
    const response = await send("POST", PATH, body, headers as Record<string, string>);
    expect(response.status).toBe(413);
    expect((await readProblem(response)).error).toBeUndefined();
  }
});

test("Heartbeats are the lease of an instance that asked for none", async () => {
  const { beat, clock, fleet, registrations } = await openApp();
  await beat({});
  clock.advance(3000);
  registrations.tick();
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(fleet.instance(A)?.state).toBe("SUSPECT");
  expect((await beat({})).status).toBe(200);
  expect(fleet.instance(A)?.state).toBe("ACTIVE");
});

import { expect, test } from "bun:test";
import type { Static } from "@sinclair/typebox";
import { unsynchronized } from "#domain";
import type { InstanceAnswer, listResponses } from "../../../src/http/instances/schema.ts";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";

const A = "10.0.0.5:8000";
const B = "10.0.0.6:8000";
const PATH = "/v1/instances";
const pathOf = (name: string) => `${PATH}/${encodeURIComponent(name)}`;

const registration = { name: A, engine: "vllm", incarnation_id: "first", block_size: 16 };

type ListAnswer = Static<(typeof listResponses)[200]>;

async function readList(response: Response): Promise<ListAnswer> {
  expect(response.status).toBe(200);
  return (await response.json()) as ListAnswer;
}

async function readInstance(response: Response): Promise<InstanceAnswer> {
  expect(response.status).toBe(200);
  return (await response.json()) as InstanceAnswer;
}

test("The register route answers 201 to a process that is new, and 200 to one that is known", async () => {
  const { fleet, send } = createFakeApp();
  for (const [incarnation_id, status, outcome] of [
    ["first", 201, "registered"],
    ["first", 200, "refreshed"],
    ["second", 201, "registered"],
  ]) {
    const response = await send("POST", PATH, { ...registration, incarnation_id });
    expect(response.status).toBe(Number(status));
    expect(await response.json()).toEqual({ name: A, outcome });
  }
  expect(fleet.instances()).toHaveLength(1);
  expect(fleet.instance(A)).toMatchObject({ registry: "http", registration: { incarnation: "second", blockSize: 16 } });
});

test("The register route gives the lease that is asked for", async () => {
  const { clock, fleet, registrations, send } = createFakeApp();
  await send("POST", PATH, { ...registration, lease_seconds: 5 });
  clock.advance(4999);
  registrations.tick();
  await new Promise(setImmediate);
  expect(fleet.instance(A)?.state).toBe("ACTIVE");
  clock.advance(1);
  registrations.tick();
  await new Promise(setImmediate);
  expect(fleet.instance(A)?.state).toBe("SUSPECT");
});

test("The register route answers 409 and names the instance that has the endpoint", async () => {
  const { fleet, send, taken } = createFakeApp();
  taken.set("tcp://10.0.0.5:5557", B);
  const response = await send("POST", PATH, { ...registration, event_endpoints: ["tcp://10.0.0.5:5557"] });
  expect(response.status).toBe(409);
  expect(await response.json()).toEqual({
    type: "/problems/conflict",
    title: "The request contradicts what is registered",
    status: 409,
    detail: `Cannot register instance "${A}": endpoint "tcp://10.0.0.5:5557" belongs to instance "${B}", an endpoint of its own is needed`,
  });
  expect(fleet.instances()).toEqual([]);
});

test("The register route answers 409 when another registry has the instance", async () => {
  const { fleet, registrations, send } = createFakeApp();
  await send("POST", PATH, registration);
  const description = fleet.instance(A)?.registration;
  if (description === undefined) throw new Error("The instance is not there");
  registrations.deregister(A, null);
  fleet.put("kubernetes", description);
  const response = await send("POST", PATH, registration);
  expect(response.status).toBe(409);
  expect((await readProblem(response)).detail).toBe(
    `Cannot register instance "${A}": it is registered through kubernetes, where it must be deleted first`,
  );
  expect((await send("DELETE", pathOf(A))).status).toBe(409);
  expect(fleet.refusals()).toEqual([]);
});

test("The register route answers 503 with Retry-After when the fleet is full", async () => {
  const { fleet, send } = createFakeApp({ instancesMax: 1 });
  await send("POST", PATH, registration);
  const response = await send("POST", PATH, { ...registration, name: B });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect((await readProblem(response)).type).toBe("/problems/fleet-full");
  expect((await send("POST", PATH, registration)).status).toBe(200);
  expect(fleet.refusals()).toEqual([]);
});

test.each([
  ["", "application/json", 400],
  ["[]", "application/json", 400],
  ['{"name":"a:1","name":"b:1"}', "application/json", 400],
  ['{"name":"a:1","engine":"vllm","extra":1}', "application/json", 422],
  ['{"name":"a:1","engine":"tgi"}', "application/json; charset=utf-8", 422],
  ["{}", "text/plain", 415],
  ["{}", "", 415],
  [`{"name":"${"a".repeat(65_536)}"}`, "application/json", 413],
])("The register route refuses the body %p of type %p with %d", async (body, type, status) => {
  const { fleet, send } = createFakeApp();
  const response = await send("POST", PATH, body, { "content-type": type });
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect((await readProblem(response)).status).toBe(status);
  expect(fleet.instances()).toEqual([]);
});

test("The register route names the byte where JSON ends, and the type that it takes", async () => {
  const { send } = createFakeApp();
  expect((await readProblem(await send("POST", PATH, '{"name":tru}'))).errors).toEqual([
    { detail: 'found "}", true, false or null is needed', offset: 11 },
  ]);
  const response = await send("POST", PATH, "a=b", { "content-type": "text/plain" });
  expect(response.headers.get("accept-post")).toBe("application/json");
  expect((await readProblem(response)).detail).toBe(
    'Cannot read the body: found content type "text/plain", allowed is application/json',
  );
});

test("The instance routes work before the directory is ready", async () => {
  const { send } = createFakeApp({ notReady: ["etcd has not answered yet"] });
  expect((await send("POST", PATH, registration)).status).toBe(201);
  expect((await readList(await send("GET", PATH))).instances).toHaveLength(1);
  expect((await send("DELETE", pathOf(A))).status).toBe(204);
});

test("The instance routes demand the configured token for what changes something", async () => {
  const { fleet, send } = createFakeApp({ internalApiToken: "secret" });
  const headers = { "x-internal-token": "secret" };
  expect((await send("POST", PATH, "no json")).status).toBe(401);
  expect((await send("POST", PATH, registration, { "x-internal-token": "other" })).status).toBe(401);
  expect((await send("POST", PATH, registration, headers)).status).toBe(201);
  expect((await send("DELETE", pathOf(A))).status).toBe(401);
  expect(fleet.instances()).toHaveLength(1);
  expect((await send("GET", PATH)).status).toBe(200);
  expect((await send("GET", pathOf(A))).status).toBe(200);
  expect((await send("DELETE", pathOf(A), undefined, headers)).status).toBe(204);
  expect(fleet.instances()).toEqual([]);
});

test("The delete route takes an instance away at once, whatever characters its name has", async () => {
  const { fleet, send } = createFakeApp();
  const name = "a/b 100% #1?";
  await send("POST", PATH, { ...registration, name, address: A });
  expect((await readInstance(await send("GET", pathOf(name)))).name).toBe(name);
  const response = await send("DELETE", pathOf(name));
  expect(response.status).toBe(204);
  expect(await response.text()).toBe("");
  expect(response.headers.get("x-request-id")).not.toBeNull();
  expect(fleet.instances()).toEqual([]);
  const again = await send("DELETE", pathOf(name));
  expect(again.status).toBe(404);
  expect((await readProblem(again)).detail).toBe('Cannot delete instance "a/b 100% #1?": it is not registered');
});

test.each(["%zz", "%ff"])("The instance routes know no instance under the broken name %s", async (name) => {
  const { send } = createFakeApp();
  expect((await send("GET", `${PATH}/${name}`)).status).toBe(404);
  expect((await send("DELETE", `${PATH}/${name}`)).status).toBe(404);
});

test("The delete route takes away the process that is named, and no other", async () => {
  const { fleet, send } = createFakeApp();
  await send("POST", PATH, registration);
  for (const query of ["?incarnation_id=second", "?incarnation_id="]) {
    const response = await send("DELETE", pathOf(A) + query);
    expect(response.status).toBe(409);
    expect((await readProblem(response)).detail).toBe(
      `Cannot delete instance "${A}": found incarnation "first", the one that is named is needed`,
    );
  }
  const unknown = await send("DELETE", `${pathOf(A)}?incarnation=first`);
  expect(unknown.status).toBe(422);
  expect((await readProblem(unknown)).errors?.[0]?.pointer).toBe("/incarnation");
  expect(fleet.instances()).toHaveLength(1);
  expect((await send("DELETE", `${pathOf(A)}?incarnation_id=first`)).status).toBe(204);
  expect(fleet.instances()).toEqual([]);
});

test("The list route describes every instance by name, with its load and its streams by rank", async () => {
  const { clock, directory, excluded, send } = createFakeApp();
  await send("POST", PATH, { name: B, engine: "xllm", role: "DECODE", register_ts_ms: 7 });
  await send("POST", PATH, { ...registration, role: "MIX", address: "10.1.0.5:80", dp_size: 2 });
  excluded.set(B, "it works as DECODE");
  clock.advance(1500);
  await send("POST", "/v1/internal/heartbeat", {
    name: A,
    incarnation_id: "first",
    load_metrics: { waiting_requests_num: 3, gpu_cache_usage_perc: 0.42 },
    latency_metrics: { recent_max_ttft: 120, recent_max_tbt: 25 },
  });
  clock.advance(250);
  directory.answer = [
    streamMatch(A, 1, { unsynchronized: unsynchronized("gap", 12, 14), coverage: "partial", deviceBlocks: 0 }),
    streamMatch(A, 0),
  ];
  const answer = await readList(await send("GET", PATH));
  const stream: InstanceAnswer["streams"][number] = {
    dp_rank: 0,
    endpoint: "tcp://10.0.0.5:18000",
    replay_endpoint: "tcp://10.0.0.5:38000",
    synchronized: true,
    coverage: "full",
    sequence: 7,
    device_blocks: 10,
    host_blocks: 5,
    disk_blocks: 2,
    error: null,
  };
  expect(answer).toEqual({
    instances: [
      {
        name: A,
        address: "10.1.0.5:80",
        role: "MIX",
        current_role: "PREFILL",
        engine: "vllm",
        state: "ACTIVE",
        state_seconds: 1.75,
        registry: "http",
        incarnation_id: "first",
        excluded: "only a DEFAULT instance serves without a decode instance",
        dp_size: 2,
        block_size: 16,
        load: { waiting_requests_num: 3, gpu_cache_usage_perc: 0.42, origin: "heartbeat", age_ms: 250 },
        load_error: null,
        latency: { recent_max_ttft: 120, recent_max_tbt: 25 },
        subscription_error: null,
        streams: [
          stream,
          {
            ...stream,
            dp_rank: 1,
            synchronized: false,
            coverage: "partial",
            device_blocks: 0,
            error: "gap: batch 12 expected, batch 14 arrived",
          },
        ],
      },
      {
        name: B,
        address: B,
        role: "DECODE",
        current_role: "DECODE",
        engine: "xllm",
        state: "ACTIVE",
        state_seconds: 1.75,
        registry: "http",
        incarnation_id: "register_ts_ms:7",
        excluded: "load unknown: no load report yet",
        dp_size: 1,
        block_size: null,
        load: null,
        load_error: "no load report yet",
        latency: null,
        subscription_error: "it works as DECODE",
        streams: [],
      },
    ],
    static_streams: [],
    refused: [],
  });
  expect(directory.asked).toEqual([{ tokens: [], instanceNames: null, namespace: null }]);
});

test("The instance routes say who may serve by the policy in force", async () => {
  for (const [policy, excluded] of [
    ["CAR", "load unknown: no load report yet"],
    ["RR", null],
  ] as const) {
    const { send } = createFakeApp({ routing: { policy } });
    await send("POST", PATH, registration);
    expect((await readList(await send("GET", PATH))).instances).toMatchObject([{ name: A, excluded }]);
    expect(await readInstance(await send("GET", pathOf(A)))).toMatchObject({ name: A, excluded });
  }
});

test("The list route shows the streams that no instance has, and what was refused", async () => {
  const { directory, fleet, send } = createFakeApp();
  await send("POST", PATH, { name: A, engine: "xllm" });
  fleet.refuse("etcd", B, "type is 7");
  directory.answer = [streamMatch("q", 1), streamMatch("q", 0), streamMatch("p", 0), streamMatch(A, 0)];
  const { instances, refused, static_streams } = await readList(await send("GET", PATH));
  expect(static_streams.map(({ instance_name, dp_rank }) => [instance_name, dp_rank])).toEqual([
    ["p", 0],
    ["q", 0],
    ["q", 1],
  ]);
  expect(instances.map(({ block_size, streams }) => [block_size, streams.length])).toEqual([[128, 1]]);
  expect(refused).toEqual([{ registry: "etcd", name: B, reason: "type is 7" }]);
});

test("The list route is empty while nobody has registered", async () => {
  expect(await readList(await createFakeApp().send("GET", PATH))).toEqual({ instances: [], static_streams: [], refused: [] });
});

test("The instance route describes one instance, and asks for its streams alone", async () => {
  const { directory, send } = createFakeApp();
  for (const name of [A, B]) await send("POST", PATH, { ...registration, name });
  directory.answer = [streamMatch(B, 0)];
  const answer = await readInstance(await send("GET", pathOf(B)));
  expect(answer).toMatchObject({ name: B, streams: [{ dp_rank: 0 }] });
  expect(directory.asked.map(({ instanceNames }) => instanceNames)).toEqual([[B]]);
});

test("The instance route answers 404 to a name that nobody registered, and says why when it was refused", async () => {
  const { fleet, send } = createFakeApp();
  const unknown = await send("GET", pathOf(A));
  expect(unknown.status).toBe(404);
  expect((await readProblem(unknown)).detail).toBe(`Cannot find instance "${A}": it is not registered`);
  fleet.refuse("etcd", A, "type is 7");
  const refused = await send("GET", pathOf(A));
  expect(refused.status).toBe(404);
  expect((await readProblem(refused)).detail).toBe(
    `Cannot find instance "${A}": its registration through etcd was refused: type is 7`,
  );
});

test("The routes that read instances answer 503 with Retry-After when the index was busy", async () => {
  const { directory, send } = createFakeApp();
  await send("POST", PATH, registration);
  directory.answer = "busy";
  for (const path of [PATH, pathOf(A)]) {
    const response = await send("GET", path);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect((await readProblem(response)).type).toBe("/problems/busy");
  }
});

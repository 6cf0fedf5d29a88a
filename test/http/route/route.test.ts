import { expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { extraKeyBytes, loraNameRoot } from "#domain";
import { routeAnswer } from "../../../src/http/route/schema.ts";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";
import { A, B, createRoutedApp, join, postBytes, ROUTE, readDecision } from "./route-scene.ts";

const prompt = (tokenCount: number) => Array.from({ length: tokenCount }, (_, token) => token);

test("The route answers exactly the fields of its contract, with every candidate", async () => {
  const scene = createFakeApp();
  await join(scene, A, { address: "10.1.0.5:80" }, 1);
  await join(scene, B, {}, 4);
  await join(scene, "10.0.0.7:8000", { role: "PREFILL" }, null);
  scene.directory.answer = [streamMatch(A, 0, { diskOnlyHitBlocks: 1 })];
  const response = await scene.send("POST", ROUTE, { token_ids: prompt(1024), request_id: "r-1" });
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const chosen = { kv_hit_ratio: (3 * 128 + 64 + 32) / 1024, queue_cost: 0.25, score: 0.390625 };
  expect(await readDecision(response)).toEqual({
    policy: "CAR",
    request_id: "r-1",
    prefill: { instance_name: A, address: "10.1.0.5:80", ...chosen },
    decode: null,
    candidates: [
      {
        instance_name: A,
        role: "DEFAULT",
        current_role: "DEFAULT",
        side: "prefill",
        ...chosen,
        device_hit_tokens: 384,
        host_only_hit_tokens: 128,
        disk_only_hit_tokens: 128,
        predicted_hit_tokens: 0,
        waiting_requests: 1,
        in_flight_requests: 0,
        gpu_cache_usage_perc: 0.5,
        excluded: null,
        uncredited: null,
      },
      {
        instance_name: B,
        role: "DEFAULT",
        current_role: "DEFAULT",
        side: "prefill",
        kv_hit_ratio: 0,
        device_hit_tokens: 0,
        host_only_hit_tokens: 0,
        disk_only_hit_tokens: 0,
        predicted_hit_tokens: 0,
        waiting_requests: 4,
        in_flight_requests: 0,
        gpu_cache_usage_perc: 0.5,
        queue_cost: 1,
        score: 1,
        excluded: null,
        uncredited: "rank 0: no stream",
      },
      {
        instance_name: "10.0.0.7:8000",
        role: "PREFILL",
        current_role: "PREFILL",
        side: "prefill",
        kv_hit_ratio: 0,
        device_hit_tokens: 0,
        host_only_hit_tokens: 0,
        disk_only_hit_tokens: 0,
        predicted_hit_tokens: 0,
        waiting_requests: null,
        in_flight_requests: 0,
        gpu_cache_usage_perc: null,
        queue_cost: 0,
        score: null,
        excluded: "load unknown: no load report yet",
        uncredited: null,
      },
    ],
    flip: null,
  });
});

test("The route's answers meet their declared schema, which nothing checks while it serves", async () => {
  const compiled = TypeCompiler.Compile(routeAnswer);
  for (const policy of ["CAR", "RR", "SLO_AWARE"] as const) {
    const scene = await createRoutedApp([A], { routing: { policy, targetTpotMs: 1 } });
    for (const name of ["m:1", "m:2", "m:3"]) {
      await join(scene, name, { role: "MIX", tpot_profiling_data: [[100, 1, 10]], ttft_profiling_data: [[1024, 85]] });
    }
    for (const body of [{ token_ids: [1, 2] }, { requests: [{ token_ids: [1], explain: false }, {}] }]) {
      const answer = await (await scene.send("POST", ROUTE, body)).json();
      expect([...compiled.Errors(answer)]).toEqual([]);
    }
  }
});

test("The route names the decode instance beside the prefill instance", async () => {
  const scene = createFakeApp();
  await join(scene, A, { role: "PREFILL" });
  await join(scene, B, { role: "DECODE" });
  const { prefill, decode } = await readDecision(await scene.send("POST", ROUTE, { token_ids: prompt(128) }));
  expect(prefill.instance_name).toBe(A);
  expect(decode).toEqual({ instance_name: B, address: B, kv_hit_ratio: 0, queue_cost: 0, score: 0.5 });
});

test("The route moves a MIX instance with the decision that says so", async () => {
  const scene = createFakeApp({ routing: { policy: "SLO_AWARE", targetTpotMs: 1 } });
  for (const name of ["m:1", "m:2", "m:3"]) await join(scene, name, { role: "MIX", tpot_profiling_data: [[100, 1, 10]] });
  expect(scene.fleet.instances().map(({ currentRole }) => currentRole)).toEqual(["DECODE", "PREFILL", "PREFILL"]);
  const { flip } = await readDecision(await scene.send("POST", ROUTE, { token_ids: [1] }));
  expect(flip).toEqual({ instance_name: "m:2", to: "DECODE" });
  expect(scene.fleet.instance("m:2")?.currentRole).toBe("DECODE");
});

const binary = new Uint8Array(new Uint32Array([5, 6, 70_000]).buffer);
const fields = { lora_name: "adapter-a", cache_salt: "s", request_id: "r" };

test.each([
  ["JSON", new TextEncoder().encode(JSON.stringify({ ...fields, token_ids: [5, 6, 70_000] })), "application/json", ""],
  ["MessagePack", encode({ ...fields, token_ids: [5, 6, 70_000] }), "application/msgpack", ""],
  ["MessagePack with a bin", encode({ ...fields, token_ids: binary }), "application/x-msgpack", ""],
  ["binary", binary, "application/octet-stream", "?lora_name=adapter-a&cache_salt=s&request_id=r"],
])("The route takes the tokens and the fields of a %s body", async (_, body, type, query) => {
  const scene = await createRoutedApp();
  expect((await readDecision(await postBytes(scene, body, type, query))).request_id).toBe("r");
  const namespace = { root: loraNameRoot("adapter-a"), extraKeys: [extraKeyBytes(["s"])] };
  expect(scene.directory.asked).toEqual([{ tokens: [5, 6, 70_000], instanceNames: null, namespace }]);
});

test("The route decides by multimodal keys as well", async () => {
  const scene = await createRoutedApp();
  await readDecision(await scene.send("POST", ROUTE, { token_ids: [1], extra_keys: [["3f9c"]] }));
  expect(scene.directory.asked[0]?.namespace).toEqual({ root: null, extraKeys: [extraKeyBytes(["3f9c"])] });
});

test("The route names the request as the client does, else by X-Request-Id", async () => {
  const { send } = await createRoutedApp();
  const idOf = async (body: object, headers: Record<string, string>) =>
    (await readDecision(await send("POST", ROUTE, { token_ids: [], ...body }, headers))).request_id;
  expect(await idOf({ request_id: "r" }, { "x-request-id": "x" })).toBe("r");
  expect(await idOf({ request_id: null }, { "x-request-id": "x" })).toBe("x");
  expect(await idOf({}, {})).toMatch(/^[0-9a-f-]{36}$/);
});

test("The route leaves the candidates out when nobody wants an explanation", async () => {
  const scene = await createRoutedApp();
  for (const explain of [undefined, true, false]) {
    const answer = await readDecision(await scene.send("POST", ROUTE, { token_ids: [1], explain }));
    expect(answer.candidates?.length).toBe(explain === false ? undefined : 2);
  }
  for (const explain of ["true", "false"]) {
    const answer = await readDecision(await postBytes(scene, binary, "application/octet-stream", `?explain=${explain}`));
    expect(answer.candidates?.length).toBe(explain === "false" ? undefined : 2);
  }
});

test("The route counts a request that comes again once", async () => {
  const { send } = await createRoutedApp([A], { routing: { trackInFlight: true } });
  const inFlight = async (request_id: string) =>
    (await readDecision(await send("POST", ROUTE, { token_ids: [1], request_id }))).candidates?.[0]?.in_flight_requests;
  expect([await inFlight("r"), await inFlight("r"), await inFlight("s"), await inFlight("t")]).toEqual([0, 0, 1, 2]);
});

test("The route tells in a dry run where a request would go, and neither counts nor remembers it", async () => {
  const scene = await createRoutedApp([A, B], { routing: { trackInFlight: true } });
  const { router, send } = scene;
  const decisionsCounted = async () =>
    /decisions_total\{[^}]*"placed"\} (\d+)/.exec(await (await send("GET", "/metrics")).text())?.[1];
  const dry = async (body: object) => readDecision(await send("POST", ROUTE, { token_ids: [1], dry_run: true, ...body }));
  const first = await dry({ request_id: "r" });
  expect(first).toMatchObject({ request_id: "r", prefill: { instance_name: A }, dry_run: true });
  expect(await dry({ request_id: "r" })).toEqual(first);
  expect((await dry({ explain: false })).candidates).toBeUndefined();
  const byBytes = await readDecision(await postBytes(scene, binary, "application/octet-stream", "?dry_run=true"));
  expect([byBytes.prefill.instance_name, byBytes.dry_run]).toEqual([A, true]);
  expect(router.books.prefillRequests).toBe(0);
  expect(await decisionsCounted()).toBe("0");

  const real = await readDecision(await send("POST", ROUTE, { token_ids: [1], request_id: "r", dry_run: false }));
  expect(first).toEqual({ ...real, dry_run: true });
  expect(real).not.toContainKey("dry_run");
  expect(await decisionsCounted()).toBe("1");
  expect((await dry({})).prefill.instance_name).toBe(B);
});

test("The route answers 503 in a dry run as it would to the request", async () => {
  const { send } = createFakeApp();
  const [dry, real] = [
    await send("POST", ROUTE, { token_ids: [1], dry_run: true }),
    await send("POST", ROUTE, { token_ids: [1] }),
  ];
  expect([dry.status, await readProblem(dry)]).toEqual([real.status, await readProblem(real)]);
});

test.each([
  ["/request_id", { request_id: "" }, 'found "", 1 to 256 printable ASCII characters are allowed'],
  ["/request_id", { request_id: 7 }, "found 7, 1 to 256 printable ASCII characters are allowed"],
  ["/request_id", { request_id: "a\nb" }, 'found "a\\nb", 1 to 256 printable ASCII characters are allowed'],
  ["/explain", { explain: "yes" }, 'found "yes", true or false is allowed'],
  ["/dry_run", { dry_run: 1 }, "found 1, true or false is allowed"],
  [
    "/instance_names",
    { instance_names: [A] },
    "found an unknown field, allowed are token_ids, request_id, explain, dry_run, lora_name, cache_salt, extra_keys",
  ],
])("The route refuses the field %s of %j", async (pointer, body, detail) => {
  const scene = await createRoutedApp();
  const response = await scene.send("POST", ROUTE, { token_ids: [1], ...body });
  expect(response.status).toBe(422);
  expect(await readProblem(response)).toMatchObject({ type: "/problems/invalid-fields", errors: [{ pointer, detail }] });
  expect(scene.directory.asked).toEqual([]);
});

test("The route takes a request id of 256 characters, and none of 257", async () => {
  const { send } = await createRoutedApp();
  for (const [length, status] of [
    [256, 200],
    [257, 422],
  ] as const) {
    expect((await send("POST", ROUTE, { token_ids: [1], request_id: "a".repeat(length) })).status).toBe(status);
  }
});

test.each([
  ["", "application/json", 400],
  ["[]", "application/json", 400],
  ['{"token_ids":[-1]}', "application/json", 422],
  ["{}", "application/json", 422],
  ["abc", "application/octet-stream", 400],
  ["{}", "text/plain", 415],
])("The route refuses the body %j of type %j with %d", async (body, type, status) => {
  const scene = await createRoutedApp();
  const response = await postBytes(scene, new TextEncoder().encode(body), type);
  expect(response.status).toBe(status);
  expect((await readProblem(response)).status).toBe(status);
});

test("The route answers 503 with Retry-After and the reasons when nothing can serve", async () => {
  const scene = createFakeApp();
  await join(scene, A, {}, null);
  await join(scene, B, { role: "PREFILL" });
  const response = await scene.send("POST", ROUTE, { token_ids: [1] });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await readProblem(response)).toEqual({
    type: "/problems/no-instance",
    title: "No instance can serve",
    status: 503,
    detail:
      "Cannot route the request: no prefill candidate: 1 without a known load, 1 in need of a decode instance; " +
      "no decode candidate: no instance works on the decode side",
    errors: [
      { detail: `instance "${A}": load unknown: no load report yet` },
      { detail: `instance "${B}": only a DEFAULT instance serves without a decode instance` },
    ],
  });
});

test("The route names the reasons of sixteen instances at most when nothing can serve", async () => {
  const scene = createFakeApp();
  for (let n = 10; n < 30; n++) await join(scene, `10.0.0.${n}:8000`, {}, null);
  const { detail, errors } = await readProblem(await scene.send("POST", ROUTE, { token_ids: [1] }));
  expect(detail).toContain("20 without a known load");
  expect(errors).toHaveLength(16);
});

test("The route answers 503 with Retry-After before the fleet is known, without reading the body", async () => {
  const { send } = createFakeApp({ notRouting: ["etcd does not answer"] });
  const response = await send("POST", ROUTE, "not json");
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await readProblem(response)).toMatchObject({
    type: "/problems/not-ready",
    detail: "Cannot route requests yet: etcd does not answer",
  });
});

test("The route answers 503 with Retry-After when the index was busy", async () => {
  const scene = await createRoutedApp();
  scene.directory.answer = "busy";
  const response = await scene.send("POST", ROUTE, { token_ids: [1] });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect((await readProblem(response)).type).toBe("/problems/busy");
});

test("The route demands the configured token before anything else", async () => {
  const { send } = createFakeApp({ internalApiToken: "secret", notRouting: ["starting"] });
  for (const path of [ROUTE, `${ROUTE}/r/finished`]) {
    for (const headers of [{}, { "x-internal-token": "Secret" }] as Record<string, string>[]) {
      expect((await send("POST", path, "not json", headers)).status).toBe(401);
    }
  }
  expect((await send("POST", ROUTE, "not json", { "x-internal-token": "secret" })).status).toBe(503);
});

test("The route does not mix the tokens of requests whose bodies arrive together", async () => {
  const { directory, send } = await createRoutedApp();
  const prompts = Array.from({ length: 20 }, (_, first) => [first, first + 1, first + 2]);
  await Promise.all(prompts.map((token_ids) => send("POST", ROUTE, { token_ids })));
  expect(directory.asked.map(({ tokens }) => tokens).toSorted(([left = 0], [right = 0]) => left - right)).toEqual(prompts);
});

test("The route forgets what it knew of an instance with its process", async () => {
  const scene = await createRoutedApp([A], { routing: { trackInFlight: true } });
  await scene.send("POST", ROUTE, { token_ids: [1] });
  expect((await scene.send("DELETE", `/v1/instances/${encodeURIComponent(A)}`)).status).toBe(204);
  await join(scene, A);
  const { candidates } = await readDecision(await scene.send("POST", ROUTE, { token_ids: [1] }));
  expect(candidates?.[0]?.in_flight_requests).toBe(0);
});

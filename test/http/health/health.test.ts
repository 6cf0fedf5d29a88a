import { expect, test } from "bun:test";
import { createFakeApp } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";

const A = "10.0.0.5:8000";
const registered = { name: A, engine: "vllm" };
const idle = { name: A, load_metrics: {} };

test("The liveness probe answers while the directory is not ready", async () => {
  const response = await createFakeApp({ notReady: ["starting"] }).send("GET", "/healthz");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
});

test("The readiness probe answers 200 once an instance can serve", async () => {
  const { send } = createFakeApp();
  await send("POST", "/v1/instances", registered);
  expect((await send("GET", "/readyz")).status).toBe(503);
  await send("POST", "/v1/internal/heartbeat", idle);
  const response = await send("GET", "/readyz");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ready: true });
});

test("The readiness probe answers 503 with every reason until the fleet is known", async () => {
  const { send } = createFakeApp({ notRouting: ["etcd does not answer", "no stream is set up"] });
  const response = await send("GET", "/readyz");
  expect(response.status).toBe(503);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await readProblem(response)).toMatchObject({
    type: "/problems/not-ready",
    errors: [{ detail: "etcd does not answer" }, { detail: "no stream is set up" }],
  });
});

test("The readiness probe says why no instance can serve", async () => {
  const { clock, fleet, send } = createFakeApp();
  const reasonNow = async () => {
    const response = await send("GET", "/readyz");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    const { detail, errors, type } = await readProblem(response);
    expect(type).toBe("/problems/no-instance");
    expect(detail).toBe(`Cannot serve: ${errors?.[0]?.detail}`);
    return errors?.map((error) => error.detail);
  };
  expect(await reasonNow()).toEqual(["no prefill candidate: no instance is registered"]);
  await send("POST", "/v1/instances", registered);
  expect(await reasonNow()).toEqual(["no prefill candidate: 1 without a known load"]);
  await send("POST", "/v1/internal/heartbeat", idle);
  expect((await send("GET", "/readyz")).status).toBe(200);
  clock.advance(10_001);
  expect(await reasonNow()).toEqual(["no prefill candidate: 1 without a known load"]);
  fleet.loseLease("http", A, "");
  await new Promise(setImmediate);
  expect(await reasonNow()).toEqual(["no prefill candidate: 1 SUSPECT"]);
});

test("The readiness probe asks for no instance where nobody is routed to", async () => {
  expect((await createFakeApp({ isObservation: true }).send("GET", "/readyz")).status).toBe(200);
  expect((await createFakeApp({ isObservation: true, notReady: ["starting"] }).send("GET", "/readyz")).status).toBe(503);
});

test("The probes need no token", async () => {
  const { send } = createFakeApp({ internalApiToken: "secret", isObservation: true });
  for (const path of ["/healthz", "/readyz"]) expect((await send("GET", path)).status).toBe(200);
});

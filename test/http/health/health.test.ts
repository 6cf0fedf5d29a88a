import { expect, test } from "bun:test";
import { createFakeApp } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";

const get = (path: string, options?: { notReady: string[] }) =>
  createFakeApp(options).app.handle(new Request(`http://localhost${path}`));

test("The liveness probe answers while the directory is not ready", async () => {
  const response = await get("/healthz", { notReady: ["starting"] });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
});

test("The readiness probe answers 200 once queries can be answered", async () => {
  const response = await get("/readyz");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ready: true });
});

test("The readiness probe answers 503 with every reason until then", async () => {
  const response = await get("/readyz", { notReady: ["etcd does not answer", "no stream is set up"] });
  expect(response.status).toBe(503);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect((await readProblem(response)).errors).toEqual([{ detail: "etcd does not answer" }, { detail: "no stream is set up" }]);
});

test("The probes need no token", async () => {
  const { app } = createFakeApp({ internalApiToken: "secret" });
  for (const path of ["/healthz", "/readyz"]) expect((await app.handle(new Request(`http://localhost${path}`))).status).toBe(200);
});

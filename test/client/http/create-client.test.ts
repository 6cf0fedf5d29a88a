import { describe, expect, test } from "bun:test";
import { listen } from "#http";
import { type ClientOptions, createClient } from "../../../src/client/http/mod.ts";
import { promptNamespace } from "../../../src/http/prompt-namespace.ts";
import { createFakeApp, streamMatch } from "../../http/fake-directory.ts";
import { createCertificates } from "../../support/certificates.ts";

const TOKENS = Uint32Array.from({ length: 512 }, (_, index) => index * 7);

/** A name that means something else in a URL, as far as registration allows. */
const ODD_NAME = "a/b?c%d#e:1";

/** A client of an app without a socket, and the content type of each request that the app has got. */
function createTestClient(options: ClientOptions = {}, app: Parameters<typeof createFakeApp>[0] = {}) {
  const fake = createFakeApp(app);
  const contentTypes: (string | null)[] = [];
  const fetch: ClientOptions["fetch"] = async (url, init) => {
    init.signal?.throwIfAborted();
    const request = new Request(url, init);
    contentTypes.push(request.headers.get("content-type"));
    return fake.app.handle(request);
  };
  return {
    ...fake,
    contentTypes,
    client: createClient("http://warmpath.test/", { fetch, retry: { attemptsMax: 1 }, ...options }),
  };
}

/** Registers an instance without load, and lets it say that it is idle. */
async function register({ client }: ReturnType<typeof createTestClient>, name: string): Promise<void> {
  const registered = await client.api.v1.instances.post({ name, address: "10.0.0.5:8000", engine: "vllm" });
  expect(registered.data).toEqual({ name, outcome: "registered" });
  const load = { waiting_requests_num: 0, gpu_cache_usage_perc: 0.5 };
  expect((await client.api.v1.internal.heartbeat.post({ name, load_metrics: load })).data).toEqual({ ok: true });
}

describe("createClient", () => {
  test("A query is the tokens as bytes with its fields, whatever the form, and its answer is typed", async () => {
    const { client, directory, contentTypes } = createTestClient();
    directory.answer = [streamMatch("10.0.0.5:8000", 0)];
    const { data } = await client.query(TOKENS, { lora_name: "adapter", cache_salt: "2026-01-31" });
    expect(data?.matches.map((match) => match.device_hit_tokens)).toEqual([384]);
    await client.query(TOKENS, { instance_names: ["10.0.0.5:8000", "x,y"] });
    expect(contentTypes).toEqual(["application/octet-stream", "application/msgpack"]);
    const namespace = promptNamespace({ lora_name: "adapter", cache_salt: "2026-01-31" });
    expect(directory.asked).toEqual([
      { tokens: [...TOKENS], instanceNames: null, namespace },
      { tokens: [...TOKENS], instanceNames: ["10.0.0.5:8000", "x,y"], namespace: null },
    ]);
  });

  test("A request is routed, reported on by an id that means something else in a URL, and its instance deleted", async () => {
    const scene = createTestClient({}, { routing: { trackInFlight: true } });
    const { client, fleet } = scene;
    await register(scene, ODD_NAME);
    const { data: decision } = await client.route(TOKENS, { request_id: "r/1 ?%#", explain: true });
    expect(decision).toMatchObject({ request_id: "r/1 ?%#", prefill: { instance_name: ODD_NAME } });
    const waiting = async () => (await client.route(TOKENS, { request_id: "probe" })).data?.candidates?.[0]?.in_flight_requests;
    expect(await waiting()).toBe(1);
    expect((await client.api.v1.route({ id: "r/1 ?%#" }).finished.post({ phase: "cancel" })).status).toBe(204);
    expect(await waiting()).toBe(0);
    expect((await client.api.v1.instances({ name: ODD_NAME }).get()).data?.address).toBe("10.0.0.5:8000");
    const other = await client.api.v1.instances({ name: ODD_NAME }).delete(undefined, { query: { incarnation_id: "other" } });
    expect(other.status).toBe(409);
    expect((await client.api.v1.instances({ name: ODD_NAME }).delete()).status).toBe(204);
    expect(fleet.instances()).toEqual([]);
  });

  test("Several requests are decided by one call", async () => {
    const scene = createTestClient();
    await register(scene, "10.0.0.5:8000");
    const { data } = await scene.client.api.v1.route.post({ requests: [{ token_ids: [1] }, { token_ids: [-1] }] });
    const decisions = data !== null && "decisions" in data ? data.decisions : [];
    expect(decisions).toMatchObject([{ prefill: { instance_name: "10.0.0.5:8000" } }, { error: { status: 422 } }]);
  });

  test("Health, readiness and metrics are answered, and readiness is asked once", async () => {
    const { client, contentTypes } = createTestClient({ retry: { attemptsMax: 3 } }, { notRouting: ["etcd is not listed yet"] });
    expect((await client.api.healthz.get()).data).toEqual({ ok: true });
    const ready = await client.api.readyz.get();
    expect(ready.error?.value).toMatchObject({ detail: "Cannot serve: etcd is not listed yet" });
    expect((await client.api.metrics.get()).data).toContain("warmpath_ready 1");
    expect(contentTypes).toHaveLength(3);
  });

  test("The token is on every request, and what is refused is a problem document", async () => {
    const { client } = createTestClient({ internalApiToken: "secret" }, { internalApiToken: "secret" });
    expect((await client.query(TOKENS)).status).toBe(200);
    const { client: stranger } = createTestClient({}, { internalApiToken: "secret" });
    const { data, error } = await stranger.query(TOKENS);
    expect([data, error?.status]).toEqual([null, 401]);
    expect(error?.value).toMatchObject({ type: "/problems/token-required" });
  });

  test("A request is tried again within the limits that are given", async () => {
    const statuses = [503, 503, 200];
    const fetch: ClientOptions["fetch"] = async () => Response.json({ ok: true }, { status: statuses.shift() ?? 500 });
    const patient = createClient("http://warmpath.test", { fetch, retry: { attemptsMax: 2, firstMs: 0 } });
    expect((await patient.api.healthz.get()).status).toBe(503);
    expect(await patient.api.healthz.get()).toMatchObject({ status: 200, data: { ok: true } });
  });

  test("A request that nobody answers rejects with the cause, and not with a status that nobody sent", async () => {
    const { client } = createTestClient({
      fetch: async () => {
        throw new TypeError("connection refused");
      },
    });
    await expect(client.query(TOKENS)).rejects.toThrow(new TypeError("connection refused"));
    await expect(client.api.healthz.get()).rejects.toThrow(new TypeError("connection refused"));
  });

  test("A signal ends a request with its reason", async () => {
    const { client } = createTestClient();
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(client.route(TOKENS, {}, { signal })).rejects.toThrow("too late");
    await expect(client.api.v1.instances.get({ fetch: { signal } })).rejects.toThrow("too late");
  });

  test("A path before the routes is kept, and further headers are sent", async () => {
    const urls: string[] = [];
    const fetch: ClientOptions["fetch"] = async (url, init) => {
      urls.push(`${url} ${new Headers(init.headers).get("x-team")}`);
      return new Response();
    };
    await createClient("https://gateway.test/warm/", { fetch, headers: { "X-Team": "a" } }).api.healthz.get();
    expect(urls).toEqual(["https://gateway.test/warm/healthz a"]);
  });

  test("A Warmpath with a certificate is reached by whoever trusts its issuer", async () => {
    const { ca, server } = createCertificates();
    const { app, directory } = createFakeApp();
    const listener = listen(app, { host: "127.0.0.1", port: 0, tls: server });
    const url = `https://127.0.0.1:${listener.port}`;
    const { data } = await createClient(url, { connection: { tls: { ca } } }).query(TOKENS);
    expect(data).toEqual({ matches: [] });
    expect(directory.asked).toMatchObject([{ tokens: [...TOKENS] }]);
    await expect(createClient(url).query(TOKENS)).rejects.toThrow("unable to verify the first certificate");
    await listener.stop();
  });

  test("A redirect is not followed, so that nobody else gets the token", async () => {
    const tokens: (string | null)[] = [];
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        tokens.push(request.headers.get("x-internal-token"));
        return Response.redirect("/elsewhere", 307);
      },
    });
    const client = createClient(server.url.href, { internalApiToken: "secret" });
    await expect(client.query(TOKENS)).rejects.toThrow("UnexpectedRedirect");
    expect(tokens).toEqual(["secret"]);
    await server.stop();
  });

  test.each(["", "10.0.0.5:8888", "localhost:8888", "ftp://a", "http://a/?b", "http://a/#b"])(
    "createClient refuses %p as the URL of a Warmpath",
    (url) => {
      const found = `Cannot create a client: found the URL ${JSON.stringify(url)}, http(s)://host[:port][/path] is needed`;
      expect(() => createClient(url)).toThrow(new TypeError(found));
    },
  );

  test.each([
    { attemptsMax: 0 },
    { attemptsMax: Number.NaN },
    { attemptsMax: 1.5 },
    { firstMs: -1 },
    { firstMs: 6000 },
    { maxMs: Infinity },
  ])("createClient refuses retry limits that bound nothing: %p", (retry) => {
    expect(() => createClient("http://a", { retry })).toThrow(RangeError);
  });
});

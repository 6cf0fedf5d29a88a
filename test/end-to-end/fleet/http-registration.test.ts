import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freePorts } from "../../support/free-ports.ts";
import { FleetSite, LEASE_LOST_TIMEOUT_MS } from "./fleet-site.ts";
import { BLOCK_SIZE, type PlayedEngine, PROMPT_TOKENS, promptOf } from "./played-engine.ts";
import { keepsIndex, whileChecking } from "./while-checking.ts";

const TEST_TIMEOUT_MS = 30_000;
const TOKEN = "internal-token";

/** Neither etcd nor a KV events file: an engine says all of itself. */
function registrationOf({ name, ranks }: PlayedEngine, fields: object = {}): object {
  return {
    name,
    engine: "xllm",
    incarnation_id: "first",
    block_size: BLOCK_SIZE,
    topic: ranks[0].topic,
    dp_size: ranks.length,
    event_endpoints: ranks.map(({ stream }) => stream.endpoint),
    replay_endpoints: ranks.map(({ stream }) => stream.replayEndpoint),
    ...fields,
  };
}

describe("An instance that registers over HTTP", () => {
  let site: FleetSite;

  beforeAll(async () => {
    site = await FleetSite.start({ kvEventsFile: null });
  });

  afterAll(() => site?.stop());

  async function register(engine: PlayedEngine, fields: object = {}): Promise<number> {
    return (await site.request("POST", "/v1/instances", registrationOf(engine, fields))).status;
  }

  async function registered(fields: object = {}): Promise<PlayedEngine> {
    const engine = site.engine();
    engine.admit(1);
    expect(await register(engine, fields)).toBe(201);
    await site.seesSynchronized(engine.name);
    return engine;
  }

  test.concurrent(
    "is answered about without etcd and without a file, and keeps its index when it registers again",
    async () => {
      const engine = await registered();
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        for (let turn = 0; turn < 10; turn++) {
          engine.admit(turn + 2);
          expect(await register(engine)).toBe(200);
        }
      });
      expect(await site.instance(engine.name)).toMatchObject({ registry: "http", state: "ACTIVE", block_size: BLOCK_SIZE });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "is ACTIVE as long as it renews its lease, then LEASE_LOST while it lives",
    async () => {
      const engine = await registered({ lease_seconds: 2 });
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        for (let turn = 0; turn < 6; turn++) {
          await Bun.sleep(500);
          expect(await register(engine, { lease_seconds: 2 })).toBe(200);
          expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE" });
        }
        await site.seesState(engine.name, "LEASE_LOST");
        expect(await register(engine, { lease_seconds: 60 })).toBe(200);
        expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE" });
      });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "is gone when its lease lapses after its process has died",
    async () => {
      const engine = await registered({ lease_seconds: 1 });
      await engine.kill();
      await site.seesState(engine.name, "SUSPECT");
      await site.seesGone(engine.name);
      expect(await site.matches(engine.name, promptOf(1))).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "without a lease lives by its heartbeats once it has sent one",
    async () => {
      const engine = await registered();
      expect(await site.heartbeat(engine.name, "first")).toBe(200);
      engine.door.health = "failing";
      await Bun.sleep(LEASE_LOST_TIMEOUT_MS / 2);
      expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE" });
      await site.seesState(engine.name, "SUSPECT");
      expect(await site.heartbeat(engine.name, "first")).toBe(200);
      await site.seesState(engine.name, "ACTIVE");
      await site.seesSynchronized(engine.name);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "has no streams from the moment that its deletion is answered",
    async () => {
      const engine = await registered();
      const path = `/v1/instances/${engine.name}`;
      expect((await site.request("DELETE", `${path}?incarnation_id=another`)).status).toBe(409);
      expect(await site.hitTokens(engine.name, promptOf(1))).toBe(PROMPT_TOKENS);
      expect((await site.request("DELETE", path)).status).toBe(204);
      expect(await site.matches(engine.name, promptOf(1))).toEqual([]);
      expect(await site.instance(engine.name)).toBeNull();
      expect((await site.request("DELETE", path)).status).toBe(404);
      expect(await site.heartbeat(engine.name, "first")).toBe(409);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "is refused with 409 when an endpoint is another instance's, which goes on",
    async () => {
      const engine = await registered();
      const other = site.engine();
      const { status, body } = await site.request("POST", "/v1/instances", {
        ...registrationOf(other),
        replay_endpoints: [engine.ranks[0].stream.replayEndpoint],
      });
      expect(status).toBe(409);
      expect(body).toMatchObject({ detail: expect.stringContaining(engine.name) });
      expect(await site.instance(other.name)).toBeNull();
      expect(await site.hitTokens(engine.name, promptOf(1))).toBe(PROMPT_TOKENS);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "is never credited with blocks of the process before once its registration is answered",
    async () => {
      const engine = await registered();
      for (let number = 2; number < 8; number++) {
        engine.ranks[0].fault = "silent";
        expect(await register(engine, { incarnation_id: `process-${number}` })).toBe(201);
        expect(await site.hitTokens(engine.name, promptOf(number - 1))).toBe(0);
        await whileChecking(
          async () => expect(await site.hitTokens(engine.name, promptOf(number - 1))).toBe(0),
          async () => {
            engine.restart();
            engine.admit(number);
            await site.seesSynchronized(engine.name);
          },
        );
        await site.sees("has its blocks", engine.name, (instance) => instance?.streams[0]?.device_blocks === 4);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "shows the load of its last heartbeat with its age",
    async () => {
      const engine = await registered();
      expect(await site.instance(engine.name)).toMatchObject({ load: null, load_error: "no load report yet", latency: null });
      const load_metrics = { waiting_requests_num: "3", gpu_cache_usage_perc: 0.25 };
      const latency_metrics = { recent_max_ttft: "120", recent_max_tbt: "12" };
      expect(await site.heartbeat(engine.name, "first", { load_metrics, latency_metrics })).toBe(200);
      await Bun.sleep(50);
      const shown = await site.instance(engine.name);
      expect(shown).toMatchObject({
        load: { waiting_requests_num: 3, gpu_cache_usage_perc: 0.25, origin: "heartbeat" },
        load_error: null,
        latency: { recent_max_ttft: 120, recent_max_tbt: 12 },
      });
      expect(shown?.load?.age_ms).toBeGreaterThanOrEqual(45);
    },
    TEST_TIMEOUT_MS,
  );
});

test("The load of a vLLM instance is read from its metrics, and why it cannot be is shown", async () => {
  let page = 'vllm:num_requests_waiting{engine="0"} 5\nvllm:kv_cache_usage_perc{engine="0"} 0.5\n';
  const door = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(page) });
  const site = await FleetSite.start({
    kvEventsFile: null,
    flags: ["--load-scrape-interval-ms=100", "--load-report-max-age-ms=500"],
  });
  const name = "vllm-0";
  const [port] = freePorts(1);
  const registration = {
    name,
    address: `127.0.0.1:${door.port}`,
    engine: "vllm",
    event_endpoints: [`tcp://127.0.0.1:${port}`],
  };
  expect((await site.request("POST", "/v1/instances", registration)).status).toBe(201);
  await site.sees("has a load", name, (instance) => instance?.load !== null);
  expect(await site.instance(name)).toMatchObject({
    load: { waiting_requests_num: 5, gpu_cache_usage_perc: 0.5, origin: "scrape" },
  });
  page = "no load here 1\n";
  await site.sees("has no load that counts", name, (instance) => instance?.load === null);
  expect((await site.instance(name))?.load_error).toContain("at most 0.5 s is allowed; ");
  await site.stop();
  await door.stop(true);
});

test("The internal token is asked for by what changes something, and by nothing else", async () => {
  const site = await FleetSite.start({ kvEventsFile: null, flags: [`--internal-api-token=${TOKEN}`] });
  const engine = site.engine();
  const withToken = { "x-internal-token": TOKEN };
  const changes: [string, string, object | undefined, number][] = [
    ["POST", "/v1/instances", registrationOf(engine), 201],
    ["POST", "/v1/internal/heartbeat", { name: engine.name, incarnation_id: "first" }, 200],
    ["POST", "/v1/internal/kv-cache/query", { token_ids: [1] }, 200],
    ["DELETE", `/v1/instances/${engine.name}`, undefined, 204],
  ];
  for (const [method, path, body, status] of changes) {
    expect((await site.request(method, path, body)).status).toBe(401);
    expect((await site.request(method, path, body, { "x-internal-token": "another" })).status).toBe(401);
    expect((await site.request("GET", "/v1/instances")).status).toBe(200);
    expect((await site.request(method, path, body, withToken)).status).toBe(status);
  }
  expect(site.logLines.join("\n")).not.toContain(TOKEN);
  await site.stop();
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findEtcd } from "../../support/etcd-server.ts";
import { FleetSite, LEASE_LOST_TIMEOUT_MS } from "./fleet-site.ts";
import { type PlayedEngine, PROMPT_TOKENS, promptOf } from "./played-engine.ts";
import { keepsIndex, whileChecking } from "./while-checking.ts";

const TEST_TIMEOUT_MS = 40_000;

const binary = await findEtcd();

let site: FleetSite;

beforeAll(async () => {
  if (binary !== null) site = await FleetSite.startWithEtcd(binary);
});

afterAll(() => site?.stop());

/** A PREFILL instance without a lease that holds prompt 1. */
async function registered(incarnation: string): Promise<PlayedEngine> {
  const engine = site.engine();
  engine.admit(1);
  await site.etcd.registrar.put("PREFILL", engine.name, { incarnation_id: incarnation });
  await site.seesSynchronized(engine.name);
  return engine;
}

/** Heartbeats as an engine sends them, for as long as the timeout of LEASE_LOST twice over. */
async function heartbeats(name: string, incarnation: string): Promise<void> {
  const endMs = performance.now() + 2 * LEASE_LOST_TIMEOUT_MS;
  while (performance.now() < endMs) {
    expect(await site.heartbeat(name, incarnation)).toBe(200);
    await Bun.sleep(200);
  }
}

describe.skipIf(binary === null)("An instance in etcd", () => {
  test.concurrent(
    "is answered about once it is registered",
    async () => {
      const engine = site.engine();
      engine.admit(1);
      expect(await site.matches(engine.name, promptOf(1))).toEqual([]);
      await site.etcd.registrar.put("PREFILL", engine.name, { incarnation_id: "first" });
      await site.seesSynchronized(engine.name);
      expect(await site.matches(engine.name, promptOf(1))).toMatchObject([
        { instance_name: engine.name, dp_rank: 0, device_hit_tokens: PROMPT_TOKENS, sequence: 1, coverage: "full", error: null },
      ]);
      expect(await site.instance(engine.name)).toMatchObject({
        state: "ACTIVE",
        registry: "etcd",
        role: "PREFILL",
        current_role: "PREFILL",
        incarnation_id: "first",
        subscription_error: null,
        streams: [{ endpoint: `tcp://${engine.name.split(":")[0]}:${engine.port + 1}`, device_blocks: 4 }],
      });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "keeps its index when the same process registers again",
    async () => {
      const engine = await registered("same");
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        for (let turn = 0; turn < 20; turn++) {
          engine.admit(2 + turn);
          await site.etcd.registrar.put("PREFILL", engine.name, {
            incarnation_id: "same",
            register_ts_ms: turn,
            ttft_profiling_data: [[100, turn]],
          });
        }
        await site.caughtUp();
      });
      expect(await site.hitTokens(engine.name, promptOf(21))).toBe(PROMPT_TOKENS);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "keeps its index without a lease while it sends heartbeats, then is suspect without streams, then gone",
    async () => {
      const engine = site.engine();
      engine.admit(1);
      const lease = await site.etcd.registrar.putLeased("PREFILL", engine.name, { incarnation_id: "leased" }, 1);
      await site.seesSynchronized(engine.name);
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        lease.release();
        await site.seesState(engine.name, "LEASE_LOST");
        await heartbeats(engine.name, "leased");
        expect(await site.instance(engine.name)).toMatchObject({ state: "LEASE_LOST" });
      });
      await site.seesState(engine.name, "SUSPECT");
      await site.sees("has no streams", engine.name, (instance) => instance?.streams.length === 0);
      expect(await site.matches(engine.name, promptOf(1))).toEqual([]);
      expect(await site.instance(engine.name)).toMatchObject({ state: "SUSPECT", subscription_error: "it is SUSPECT" });
      await site.seesGone(engine.name);
      expect(await site.matches(engine.name, promptOf(1))).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "is suspect and then gone when its lease runs out after its process has died",
    async () => {
      const engine = site.engine();
      engine.admit(1);
      const lease = await site.etcd.registrar.putLeased("PREFILL", engine.name, { incarnation_id: "dead" }, 1);
      await site.seesSynchronized(engine.name);
      await engine.kill();
      lease.release();
      await site.seesState(engine.name, "SUSPECT");
      await site.seesGone(engine.name);
      expect(site.logLines.some((line) => line.includes("deregistered") && line.includes(engine.name))).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "is not believed alive by a door that answers anything but 200",
    async () => {
      const engine = await registered("failing");
      engine.door.health = "failing";
      await site.etcd.registrar.delete("PREFILL", engine.name);
      await site.seesState(engine.name, "SUSPECT");
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "has its streams again when a heartbeat comes while it is suspect",
    async () => {
      const engine = await registered("slow");
      engine.door.health = "silent";
      await site.etcd.registrar.delete("PREFILL", engine.name);
      await site.seesState(engine.name, "SUSPECT");
      expect(await site.heartbeat(engine.name, "another")).toBe(409);
      expect(await site.heartbeat(engine.name, "slow")).toBe(200);
      await site.seesState(engine.name, "LEASE_LOST");
      await site.seesSynchronized(engine.name);
      expect(await site.hitTokens(engine.name, promptOf(1))).toBe(PROMPT_TOKENS);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "has no hits at once when its engine dies, while it is still registered",
    async () => {
      const engine = await registered("killed");
      engine.killRanks();
      await site.sees("is not synchronized", engine.name, (instance) => instance?.streams[0]?.synchronized === false);
      expect(await site.matches(engine.name, promptOf(1))).toMatchObject([{ synchronized: false, device_hit_tokens: 0 }]);
      expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE" });
      engine.restart();
      await site.seesSynchronized(engine.name);
      expect(await site.hitTokens(engine.name, promptOf(1))).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "waits while the name is registered over HTTP, and is there once that is deleted",
    async () => {
      const engine = site.engine();
      engine.admit(1);
      const registration = { name: engine.name, engine: "xllm", incarnation_id: "over-http" };
      expect((await site.request("POST", "/v1/instances", registration)).status).toBe(201);
      await site.seesSynchronized(engine.name);
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        await site.etcd.registrar.put("PREFILL", engine.name, { incarnation_id: "in-etcd" });
        await site.caughtUp();
      });
      const reason = "registered through http already";
      expect((await site.list()).refused).toContainEqual({ registry: "etcd", name: engine.name, reason });

      expect((await site.request("DELETE", `/v1/instances/${engine.name}`)).status).toBe(204);
      expect(await site.instance(engine.name)).toMatchObject({ registry: "etcd", incarnation_id: "in-etcd" });
      await site.seesSynchronized(engine.name);
      expect(await site.hitTokens(engine.name, promptOf(1))).toBe(PROMPT_TOKENS);
      expect((await site.request("POST", "/v1/instances", registration)).status).toBe(409);
      expect((await site.request("DELETE", `/v1/instances/${engine.name}`)).status).toBe(409);
      expect((await site.list()).refused.map(({ name }) => name)).not.toContain(engine.name);
    },
    TEST_TIMEOUT_MS,
  );
});

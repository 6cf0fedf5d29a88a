import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findEtcd } from "../../support/etcd-server.ts";
import { eventually } from "../../support/eventually.ts";
import { FleetSite } from "./fleet-site.ts";
import { DISCOVERY, PROMPT_TOKENS, promptOf } from "./played-engine.ts";
import { keepsIndex, whileChecking } from "./while-checking.ts";

const TEST_TIMEOUT_MS = 40_000;
/** What one Warmpath listens to at most. */
const STREAMS_MAX = 128;

const binary = await findEtcd();

describe.skipIf(binary === null)("Streams", () => {
  let site: FleetSite;

  beforeAll(async () => {
    site = await FleetSite.startWithEtcd(binary as string);
  });

  afterAll(() => site?.stop());

  test.concurrent(
    "of a second rank come and go with dp_size while the first rank's stays as it is",
    async () => {
      const engine = site.engine(2);
      const { registrar } = site.etcd;
      const meta = (ranks: number) => ({ incarnation_id: "ranks", dp_size: ranks });
      engine.admit(1);
      engine.ranks[1].step([promptOf(2)]);
      engine.ranks[1].fault = "silent";
      await registrar.put("PREFILL", engine.name, meta(1));
      await site.seesSynchronized(engine.name);
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        await registrar.put("PREFILL", engine.name, meta(2));
        await site.sees("has two streams", engine.name, (instance) => instance?.streams.length === 2);
        expect(await site.matches(engine.name, promptOf(2))).toMatchObject([
          { dp_rank: 0, synchronized: true, device_hit_tokens: 0 },
          { dp_rank: 1, synchronized: false, device_hit_tokens: 0, error: expect.any(String) },
        ]);
        engine.ranks[1].fault = "none";
        await site.seesSynchronized(engine.name, 2);
        expect(await site.matches(engine.name, promptOf(2))).toMatchObject([
          { dp_rank: 0, device_hit_tokens: 0 },
          { dp_rank: 1, device_hit_tokens: PROMPT_TOKENS },
        ]);
        await registrar.put("PREFILL", engine.name, meta(1));
        await site.seesSynchronized(engine.name, 1);
        expect(await site.matches(engine.name, promptOf(2))).toMatchObject([{ dp_rank: 0 }]);
      });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "go while the same process works as DECODE and come back when it works as PREFILL again",
    async () => {
      const engine = site.engine();
      const { registrar } = site.etcd;
      engine.admit(1);
      await registrar.put("PREFILL", engine.name, { incarnation_id: "flipped" });
      await site.seesSynchronized(engine.name);

      await registrar.put("DECODE", engine.name, { incarnation_id: "flipped" });
      await registrar.delete("PREFILL", engine.name);
      await site.sees("has no streams", engine.name, (instance) => instance?.streams.length === 0);
      expect(await site.matches(engine.name, promptOf(1))).toEqual([]);
      expect(await site.instance(engine.name)).toMatchObject({
        state: "ACTIVE",
        current_role: "DECODE",
        subscription_error: expect.stringContaining("DECODE"),
      });

      await registrar.put("PREFILL", engine.name, { incarnation_id: "flipped" });
      await registrar.delete("DECODE", engine.name);
      await site.seesSynchronized(engine.name);
      expect(await site.hitTokens(engine.name, promptOf(1))).toBe(PROMPT_TOKENS);
      await site.caughtUp();
      expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE", role: "PREFILL", subscription_error: null });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "of two instances that claim one endpoint are both closed, and the error names both",
    async () => {
      const engine = site.engine();
      const { registrar } = site.etcd;
      engine.admit(1);
      await registrar.put("PREFILL", engine.name, { incarnation_id: "rightful" });
      await site.seesSynchronized(engine.name);
      // Its publisher would be where the engine answers with its snapshot.
      const other = `127.0.0.1:${engine.port + DISCOVERY.replay_port_offset - DISCOVERY.event_port_offset}`;
      await registrar.put("PREFILL", other, { incarnation_id: "intruder" });
      await site.sees("has no streams", engine.name, (instance) => instance?.streams.length === 0);
      for (const [name, owner] of [
        [engine.name, other],
        [other, engine.name],
      ]) {
        expect(await site.matches(name, promptOf(1))).toEqual([]);
        expect((await site.instance(name))?.subscription_error).toContain(owner);
      }
      const errors = site.logLines.filter((line) => line.includes("Endpoints overlap") && line.includes(other));
      expect(errors).toEqual([expect.stringContaining(engine.name)]);

      await registrar.delete("PREFILL", other);
      await site.seesSynchronized(engine.name);
      expect(await site.hitTokens(engine.name, promptOf(1))).toBe(PROMPT_TOKENS);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "of others go on when one key holds no JSON, which is listed as refused with the reason",
    async () => {
      const engine = site.engine();
      engine.admit(1);
      const client = site.etcd.server.client();
      const broken = "broken.invalid:8000";
      await client.put(`XLLM:PREFILL:${broken}`).value("{not json");
      await site.etcd.registrar.put("PREFILL", engine.name, { incarnation_id: "sound" });
      await site.seesSynchronized(engine.name);
      const refusal = async () => (await site.list()).refused.find(({ name }) => name === broken);
      expect(await refusal()).toMatchObject({ registry: "etcd", reason: expect.stringContaining("JSON") });
      const { status, body } = await site.request("GET", `/v1/instances/${broken}`);
      expect([status, body]).toEqual([404, expect.objectContaining({ detail: expect.stringContaining("refused") })]);

      await client.delete().key(`XLLM:PREFILL:${broken}`);
      client.close();
      await site.caughtUp();
      expect(await refusal()).toBeUndefined();
    },
    TEST_TIMEOUT_MS,
  );
});

test("MIX instances become DECODE first and PREFILL next", async () => {
  const site = await FleetSite.start();
  const [first, second] = [site.engine(), site.engine()];
  for (const { name } of [first, second]) {
    await site.request("POST", "/v1/instances", { name, engine: "xllm", role: "MIX", incarnation_id: "mixed" });
  }
  second.admit(1);
  await site.seesSynchronized(second.name);
  expect(await site.instance(first.name)).toMatchObject({ role: "MIX", current_role: "DECODE", streams: [] });
  expect(await site.instance(second.name)).toMatchObject({ role: "MIX", current_role: "PREFILL" });
  await site.stop();
});

describe.skipIf(binary === null)("Of 200 instances", () => {
  test(
    "the first 128 by name are listened to, and the next one comes in for one that goes",
    async () => {
      const site = await FleetSite.startWithEtcd(binary as string);
      const { registrar } = site.etcd;
      const engines = [site.engine(), site.engine(), site.engine()];
      for (const engine of engines) engine.admit(1);
      // Nobody answers there, and every name sorts behind those of the engines.
      const others = Array.from({ length: 200 - engines.length }, (_, index) => `127.1.0.${index + 1}:8000`);
      const names = [...engines.map(({ name }) => name), ...others];
      await Promise.all(names.map((name) => registrar.put("PREFILL", name, { incarnation_id: "many" })));
      await site.caughtUp();
      for (const engine of engines) await site.seesSynchronized(engine.name);

      const listened = async () => {
        const { instances } = await site.list();
        return instances.filter(({ streams }) => streams.length > 0).map(({ name }) => name);
      };
      /** Streams follow the fleet a moment later. */
      const expectListened = async (expected: string[]) => {
        await eventually("the streams follow", async () => Bun.deepEquals(await listened(), expected)).catch(() => {});
        expect(await listened()).toEqual(expected);
      };
      names.sort();
      await expectListened(names.slice(0, STREAMS_MAX));
      const { instances } = await site.list();
      const skipped = instances.filter(({ streams, role }) => streams.length === 0 && role === "PREFILL");
      expect(skipped.map(({ name }) => name)).toEqual(names.slice(STREAMS_MAX));
      for (const { subscription_error } of skipped) expect(subscription_error).toContain(`0 of max_streams ${STREAMS_MAX} left`);

      const goes = names[100];
      await registrar.delete("PREFILL", goes);
      await site.sees("is listened to", names[STREAMS_MAX], (instance) => instance?.streams.length === 1);
      await expectListened(names.filter((name) => name !== goes).slice(0, STREAMS_MAX));
      for (const engine of engines) expect(await site.hitTokens(engine.name, promptOf(1))).toBe(PROMPT_TOKENS);
      await site.stop();
    },
    TEST_TIMEOUT_MS,
  );
});

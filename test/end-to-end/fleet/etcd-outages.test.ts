import { afterEach, describe, expect, test } from "bun:test";
import { EtcdRegistrar } from "../../support/etcd-registrar.ts";
import { EtcdServer, findEtcd } from "../../support/etcd-server.ts";
import { eventually } from "../../support/eventually.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";
import { FleetSite } from "./fleet-site.ts";
import { PROMPT_TOKENS, promptOf } from "./played-engine.ts";
import { keepsIndex, whileChecking } from "./while-checking.ts";

const TEST_TIMEOUT_MS = 40_000;
const STOP_LIMIT_MS = 2000;

const binary = await findEtcd();

const toStop: { stop(): unknown }[] = [];

afterEach(async () => {
  for (const one of toStop.splice(0).reverse()) await one.stop();
});

async function readiness(site: FleetSite): Promise<{ status: number; detail: string }> {
  const { status, body } = await site.request("GET", "/readyz");
  return { status, detail: (body as { detail?: string }).detail ?? "" };
}

async function siteOf(addresses: string, environment: Record<string, string> = {}): Promise<FleetSite> {
  const site = await FleetSite.startUnready({ flags: [`--etcd-addr=${addresses}`], environment });
  toStop.push(site);
  return site;
}

function logCount(site: FleetSite, text: string): number {
  return site.logLines.filter((line) => line.includes(text)).length;
}

/** It is ready when it has listed etcd, and follows it a moment later. */
async function seesConnected(site: FleetSite): Promise<void> {
  await eventually("etcd is followed", () => logCount(site, "Connected to etcd") === 1);
}

describe.skipIf(binary === null)("An etcd", () => {
  test(
    "that is killed and comes back with its data takes nothing away, and its later changes are seen",
    async () => {
      const site = await FleetSite.startWithEtcd(binary as string);
      toStop.push(site);
      const { server, registrar } = site.etcd;
      const [engine, later] = [site.engine(), site.engine()];
      engine.admit(1);
      await registrar.put("DEFAULT", engine.name, { incarnation_id: "lasting" });
      await site.seesSynchronized(engine.name);
      await seesConnected(site);
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        await server.kill();
        await eventually("the loss is logged", () => logCount(site, "Lost etcd") === 1);
        const load_metrics = { waiting_requests_num: 0, gpu_cache_usage_perc: 0 };
        expect(await site.heartbeat(engine.name, "lasting", { load_metrics })).toBe(200);
        engine.admit(2);
        await eventually("events go on", async () => (await site.hitTokens(engine.name, promptOf(2))) === PROMPT_TOKENS);
        expect((await readiness(site)).status).toBe(200);
        await server.restart();
        await registrar.put("DEFAULT", later.name, { incarnation_id: "later" });
        await site.seesSynchronized(later.name);
      });
      expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE", incarnation_id: "lasting" });
      expect(logCount(site, "deregistered")).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that has compacted what happened while it could not be reached is listed anew",
    async () => {
      const server = await EtcdServer.start(binary as string);
      const proxy = new TcpProxy(server.port);
      const registrar = new EtcdRegistrar(server.endpoint);
      toStop.push(server, proxy, { stop: () => registrar.close() });
      const site = await siteOf(proxy.endpoint);
      const [stays, replaced, goes, comes] = [site.engine(), site.engine(), site.engine(), site.engine()];
      for (const engine of [stays, replaced, goes]) {
        engine.admit(1);
        await registrar.put("PREFILL", engine.name, { incarnation_id: "before" });
        await site.seesSynchronized(engine.name);
      }
      await seesConnected(site);
      await whileChecking(keepsIndex(site, stays.name, 1), async () => {
        proxy.refuse();
        await eventually("the loss is logged", () => logCount(site, "Lost etcd") === 1);
        await registrar.delete("PREFILL", goes.name);
        await goes.kill();
        replaced.restart();
        replaced.admit(2);
        await registrar.put("PREFILL", replaced.name, { incarnation_id: "after" });
        await registrar.put("PREFILL", comes.name, { incarnation_id: "after" });
        const client = server.client();
        const { header } = await client.kv.range({ key: Buffer.from("XLLM:") });
        await client.kv.compact({ revision: header.revision, physical: true });
        client.close();
        proxy.forward();
        await site.seesSynchronized(comes.name);
        await site.sees("is replaced", replaced.name, (instance) => instance?.incarnation_id === "after");
        await site.seesSynchronized(replaced.name);
        await site.seesGone(goes.name);
      });
      expect(await site.hitTokens(replaced.name, promptOf(1))).toBe(0);
      expect(await site.hitTokens(replaced.name, promptOf(2))).toBe(PROMPT_TOKENS);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that starts after Warmpath is why queries are refused until then",
    async () => {
      const server = await EtcdServer.prepare(binary as string);
      toStop.push(server);
      const site = await siteOf(server.endpoint);
      await eventually("the reason is known", async () => (await readiness(site)).detail.includes("ECONNREFUSED"));
      const { status, detail } = await readiness(site);
      expect([status, detail]).toEqual([503, expect.stringContaining(server.endpoint)]);
      const query = () => site.request("POST", "/v1/internal/kv-cache/query", { token_ids: [1] });
      expect(await query()).toMatchObject({ status: 503, body: { detail: expect.stringContaining("ECONNREFUSED") } });
      await server.restart();
      await eventually("queries are answered", async () => (await query()).status === 200);
      expect((await readiness(site)).detail).not.toContain("etcd");
      expect(logCount(site, "Cannot follow etcd")).toBe(1);
      await seesConnected(site);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is followed at the first address that answers, under its namespace alone",
    async () => {
      const server = await EtcdServer.start(binary as string);
      const [registrar, outside] = [new EtcdRegistrar(server.endpoint, "/site-a/"), new EtcdRegistrar(server.endpoint)];
      toStop.push(server, { stop: () => registrar.close() }, { stop: () => outside.close() });
      const site = await FleetSite.startUnready({
        flags: [`--etcd-addr=127.0.0.1:9,${server.endpoint}`, "--etcd-namespace=site-a"],
      });
      toStop.push(site);
      const [within, without] = [site.engine(), site.engine()];
      within.admit(1);
      await outside.put("PREFILL", without.name, { incarnation_id: "elsewhere" });
      await registrar.put("PREFILL", within.name, { incarnation_id: "here" });
      await site.seesSynchronized(within.name);
      expect((await site.list()).instances.map(({ name }) => name)).toEqual([within.name]);
      expect(await site.hitTokens(within.name, promptOf(1))).toBe(PROMPT_TOKENS);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that never answers does not hold up the stop",
    async () => {
      const server = await EtcdServer.start(binary as string);
      const proxy = new TcpProxy(server.port);
      toStop.push(server, proxy);
      proxy.goSilent();
      const site = await FleetSite.startUnready({ flags: [`--etcd-addr=${proxy.endpoint}`] });
      await eventually("etcd is asked", () => proxy.connectionCount > 0);
      expect((await readiness(site)).status).toBe(503);
      const askedAtMs = performance.now();
      await site.stop();
      expect(performance.now() - askedAtMs).toBeLessThan(STOP_LIMIT_MS);
      await eventually("no connection is left", () => proxy.connectionCount === 0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that refuses the user is named with the user, and never with the password",
    async () => {
      const server = await EtcdServer.start(binary as string);
      toStop.push(server);
      await server.enableAuthentication();
      const site = await siteOf(server.endpoint, { ETCD_USERNAME: "root", ETCD_PASSWORD: "a-wrong-password" });
      await eventually("the reason is known", async () => (await readiness(site)).detail.includes("refuses"));
      const { status, detail } = await readiness(site);
      expect([status, detail]).toEqual([503, expect.stringContaining('etcd refuses user "root"')]);
      const refused = site.logLines.filter((line) => line.includes("refuses user"));
      expect(refused).toEqual([expect.stringContaining("ETCD_PASSWORD")]);
      expect(site.logLines.join("\n") + detail).not.toContain("a-wrong-password");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "gives loads, which count until they are too old, and a heartbeat's counts when it is fresher",
    async () => {
      const site = await FleetSite.startWithEtcd(binary as string, { flags: ["--load-report-max-age-ms=1000"] });
      toStop.push(site);
      const { registrar } = site.etcd;
      const engine = site.engine();
      await registrar.put("PREFILL", engine.name, { incarnation_id: "loaded" });
      await site.seesSynchronized(engine.name);
      expect(await site.instance(engine.name)).toMatchObject({ load: null, load_error: "no load report yet" });

      await registrar.putLoad(engine.name, 7, 0.5);
      await site.sees("has a load", engine.name, (instance) => instance?.load !== null);
      expect(await site.instance(engine.name)).toMatchObject({
        load: { waiting_requests_num: 7, gpu_cache_usage_perc: 0.5, origin: "etcd" },
      });
      const load_metrics = { waiting_requests_num: 2, gpu_cache_usage_perc: 0.75 };
      expect(await site.heartbeat(engine.name, "loaded", { load_metrics })).toBe(200);
      expect(await site.instance(engine.name)).toMatchObject({ load: { waiting_requests_num: 2, origin: "heartbeat" } });
      await site.sees("has no load that counts", engine.name, (instance) => instance?.load === null);
      expect((await site.instance(engine.name))?.load_error).toContain("at most 1 s is allowed");
    },
    TEST_TIMEOUT_MS,
  );
});

import { afterEach, describe, expect, test } from "bun:test";
import { EtcdRegistrar } from "../../support/etcd-registrar.ts";
import { EtcdServer, findEtcd } from "../../support/etcd-server.ts";
import { eventually } from "../../support/eventually.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";
import { startWarmpath, type WarmpathProcess, writeKvEventsFile } from "../warmpath-process.ts";
import { DISCOVERY, PlayedEngine } from "./played-engine.ts";

const TEST_TIMEOUT_MS = 30_000;
const STOP_LIMIT_MS = 2000;
/** After its stop a process has nothing left to do. */
const EXIT_LIMIT_MS = 1000;

const binary = await findEtcd();
const stoppedService = new URL("./stopped-service.process.ts", import.meta.url).pathname;

const toStop: { stop(): unknown }[] = [];

afterEach(async () => {
  for (const one of toStop.splice(0).reverse()) await one.stop();
});

interface Scene {
  server: EtcdServer;
  proxy: TcpProxy;
  registrar: EtcdRegistrar;
  engine: PlayedEngine;
  warmpath: WarmpathProcess;
}

/** Warmpath as a process that listens to an engine, which it found in etcd. */
async function start(entry?: string): Promise<Scene> {
  const server = await EtcdServer.start(binary as string);
  const proxy = new TcpProxy(server.port);
  const registrar = new EtcdRegistrar(server.endpoint);
  const engine = new PlayedEngine();
  toStop.push(server, proxy, { stop: () => registrar.close() }, engine);
  engine.admit(1);
  await registrar.put("PREFILL", engine.name, { incarnation_id: "listened-to" });
  const file = await writeKvEventsFile({ discovery: DISCOVERY });
  const flags = ["--etcd-addr", proxy.endpoint, "--kv-events-config-file", file, "--instance-delete-probe-timeout-ms", "60000"];
  const warmpath = startWarmpath(flags, {}, entry);
  toStop.push({ stop: () => warmpath.signal("SIGKILL") });
  await untilSynchronized(await warmpath.port, engine.name);
  await warmpath.logged("Connected to etcd");
  return { server, proxy, registrar, engine, warmpath };
}

async function untilSynchronized(port: number, name: string): Promise<void> {
  await eventually(`${name} is synchronized`, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/instances/${name}`);
    if (!answer.ok) return false;
    const { streams } = (await answer.json()) as { streams: { synchronized: boolean }[] };
    return streams.length === 1 && streams[0].synchronized;
  });
}

const outages: [string, (scene: Scene) => Promise<void>][] = [
  ["while it follows etcd", async () => {}],
  [
    "while etcd is gone",
    async ({ server, warmpath }) => {
      await server.kill();
      await warmpath.logged("Lost etcd");
    },
  ],
  ["while etcd is silent", async ({ proxy }) => proxy.goSilent()],
  [
    "while an instance is asked whether it lives",
    async ({ registrar, engine }) => {
      engine.door.health = "silent";
      await registrar.delete("PREFILL", engine.name);
      await eventually("it is asked", () => engine.door.requestCount > 0);
    },
  ],
];

describe.skipIf(binary === null)("Warmpath", () => {
  for (const [when, arrange] of outages) {
    test(
      `ends with code 0 on SIGTERM ${when}`,
      async () => {
        const scene = await start();
        await arrange(scene);
        const askedAtMs = performance.now();
        scene.warmpath.signal("SIGTERM");
        expect(await scene.warmpath.exitCode).toBe(0);
        expect(performance.now() - askedAtMs).toBeLessThan(STOP_LIMIT_MS);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      `leaves nothing that keeps the process alive once it has stopped ${when}`,
      async () => {
        const scene = await start(stoppedService);
        await arrange(scene);
        const askedAtMs = performance.now();
        scene.warmpath.signal("SIGTERM");
        const ended = await Promise.race([scene.warmpath.exitCode, Bun.sleep(STOP_LIMIT_MS + EXIT_LIMIT_MS)]);
        expect(ended).toBe(0);
        expect(performance.now() - askedAtMs).toBeLessThan(STOP_LIMIT_MS + EXIT_LIMIT_MS);
        expect(Number((await scene.warmpath.output).stdout)).toBeLessThan(STOP_LIMIT_MS);
      },
      TEST_TIMEOUT_MS,
    );
  }
});

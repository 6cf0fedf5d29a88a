import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { SimulatedEngine } from "#sim";
import { version } from "../../package.json" with { type: "json" };
import { measureFirstAnswer } from "../../scripts/first-answer.ts";
import { bundlePage } from "../../src/http/dashboard/bundle.ts";
import { FakeApiServer } from "../fleet/kubernetes/fake-api-server.ts";
import { podWith } from "../fleet/kubernetes/pods.ts";
import { EtcdRegistrar } from "../support/etcd-registrar.ts";
import { EtcdServer, findEtcd } from "../support/etcd-server.ts";
import { eventually } from "../support/eventually.ts";
import { askJson, ExecutableSite, type RunningExecutable } from "./executable-site.ts";

const CACHE = { blockSize: 16, deviceBlocksMax: 64, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" } as const;

/** The build and each test take about a second; the rest is reserve for a busy machine. */
setDefaultTimeout(20_000);

const etcdBinary = await findEtcd();

let site: ExecutableSite;
const closings: (() => unknown)[] = [];

beforeAll(async () => {
  site = await ExecutableSite.build();
});

afterAll(() => site.remove());

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

function serve(...call: Parameters<ExecutableSite["serve"]>): RunningExecutable {
  const started = site.serve(...call);
  closings.push(() => {
    started.process.kill("SIGKILL");
    return started.process.exited;
  });
  return started;
}

async function instanceNames({ url }: RunningExecutable): Promise<string[]> {
  const answer = (await askJson(`${url}/v1/instances`)) as { instances: { name: string }[] } | null;
  return answer?.instances.map(({ name }) => name) ?? [];
}

describe("The single executable", () => {
  test("answers what an engine holds, where it may write nowhere, and ends with code 0 on SIGTERM", async () => {
    const engine = new SimulatedEngine({ name: "engine:8000", cache: CACHE });
    const serving = setInterval(() => engine.serve(), 5);
    closings.push(() => {
      clearInterval(serving);
      engine.close();
    });
    const prompt = Array.from({ length: 64 }, (_, index) => index * 3);
    engine.step([Uint32Array.from(prompt)]);
    const warmpath = serve();
    const registration = {
      name: engine.name,
      engine: "xllm",
      block_size: CACHE.blockSize,
      topic: engine.stream.topic,
      event_endpoints: [engine.stream.endpoint],
      replay_endpoints: [engine.stream.replayEndpoint],
    };
    await eventually("the engine is registered", async () => {
      return (await askJson(`${warmpath.url}/v1/instances`, registration)) !== null;
    });
    await eventually("its blocks are known", async () => {
      const answer = await askJson(`${warmpath.url}/v1/internal/kv-cache/query`, { token_ids: prompt });
      const [match] = (answer as { matches: { device_hit_tokens: number }[] } | null)?.matches ?? [];
      return match?.device_hit_tokens === prompt.length;
    });
    warmpath.process.kill("SIGTERM");
    expect(await warmpath.process.exited).toBe(0);
    expect(await site.leftovers()).toEqual([]);
  });

  test.skipIf(etcdBinary === null)("follows etcd", async () => {
    const etcd = await EtcdServer.start(etcdBinary ?? "");
    closings.push(() => etcd.stop());
    const registrar = new EtcdRegistrar(etcd.endpoint);
    closings.push(() => registrar.close());
    await registrar.put("DEFAULT", "127.0.0.1:9");
    const warmpath = serve(["--etcd-addr", `127.0.0.1:${etcd.port}`]);
    await eventually("the instance is known", async () => (await instanceNames(warmpath)).includes("127.0.0.1:9"));
  });

  test("has etcd's protocol in itself, and reads none where it was built", async () => {
    const content = Buffer.from(await Bun.file(site.executable).arrayBuffer());
    expect(content.includes("package etcdserverpb;")).toBe(true);
    expect(content.includes(`__dirname = "${dirname(fileURLToPath(import.meta.resolve("etcd3")))}"`)).toBe(false);
  });

  test("has the dashboard in itself, as the sources bundle it", async () => {
    const { url } = serve();
    await eventually("it answers", async () => (await askJson(`${url}/healthz`)) !== null);
    expect(await (await fetch(url)).text()).toBe(await bundlePage());
  });

  test("follows the pods of Kubernetes", async () => {
    const apiServer = await FakeApiServer.start();
    closings.push(() => apiServer.stop());
    apiServer.put(podWith({ labels: { app: "vllm" } }));
    const kubeconfig = await site.write(
      "kubeconfig",
      JSON.stringify({
        clusters: [{ name: "test", cluster: { server: apiServer.url, "insecure-skip-tls-verify": true } }],
        users: [{ name: "warmpath", user: {} }],
        contexts: [{ name: "test", context: { cluster: "test", user: "warmpath", namespace: "llm" } }],
        "current-context": "test",
      }),
    );
    const warmpath = serve(["--kubernetes-label-selector", "app=vllm"], { KUBECONFIG: kubeconfig });
    await eventually("the pod is known", async () => (await instanceNames(warmpath)).length === 1);
  });

  test("is not changed by files that lie where it is started", async () => {
    const dotenv = await site.write(".env", "WARMPATH_LIBZMQ=/does/not/exist.so\n");
    await site.write("bunfig.toml", 'preload = ["./does-not-exist.ts"]\n');
    const { url } = serve([], {}, dirname(dotenv));
    await eventually("it answers", async () => (await askJson(`${url}/healthz`)) !== null);
  });

  test("takes the libzmq that WARMPATH_LIBZMQ names, and ends with code 1 when that does not load", async () => {
    const warmpath = site.run([], { WARMPATH_LIBZMQ: "/does/not/exist.so" });
    expect(await warmpath.exited).toBe(1);
    expect(await warmpath.stderr.text()).toContain("/does/not/exist.so");
  });

  test("names a wrong flag and ends with code 2", async () => {
    const warmpath = site.run(["--no-such-flag"]);
    expect(await warmpath.exited).toBe(2);
    expect(await warmpath.stderr.text()).toContain("no-such-flag");
  });

  test("prints every setting with --help and ends with code 0", async () => {
    const warmpath = site.run(["--help"]);
    expect(await warmpath.exited).toBe(0);
    expect(await warmpath.stdout.text()).toContain("--kv-events-config-file");
  });

  test("is called warmpath in its help, and prints its version", async () => {
    expect(await site.run(["--help"]).stdout.text()).toStartWith("Usage: warmpath [serve] [--flag VALUE");
    expect(await site.run(["status", "--help"]).stdout.text()).toStartWith("Usage: warmpath status ");
    expect(await site.run(["--version"]).stdout.text()).toBe(`warmpath ${version}\n`);
  });

  test("asks a running one as a command, and ends with the command's code", async () => {
    const { url } = serve(["--load-balance-policy=RR"]);
    await eventually("it answers", async () => (await askJson(`${url}/healthz`)) !== null);
    await askJson(`${url}/v1/instances`, { name: "engine:8000", engine: "vllm" });
    await eventually("it can serve", async () => (await fetch(`${url}/readyz`)).ok);
    const explain = site.run(["explain", "1,2,3", "--url", url]);
    expect(await explain.exited).toBe(0);
    expect(await explain.stdout.text()).toContain("engine:8000  ← prefill");
    expect(await site.run(["status", "--url=http://127.0.0.1:9"]).exited).toBe(3);
  });

  test("has a size and a start, which are told", async () => {
    const megabytes = Bun.file(site.executable).size / 1e6;
    const ms = await measureFirstAnswer(site.executable);
    console.log(`Single executable: ${megabytes.toFixed(0)} MB, first answer ${ms.toFixed(0)} ms after its start`);
    expect(megabytes).toBeLessThan(200);
  });
});

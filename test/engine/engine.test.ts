import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startWarmpath, writeKvEventsFile } from "../end-to-end/warmpath-process.ts";
import { EtcdServer, findEtcd } from "../support/etcd-server.ts";
import { eventually } from "../support/eventually.ts";
import { freePortRuns, freePorts } from "../support/free-ports.ts";

const SCRIPTS = join(import.meta.dir, "../../scripts");
const TOKEN = "a-token";

/** Three processes start in some tests; the rest is reserve for a busy machine. */
setDefaultTimeout(20_000);

const etcdBinary = await findEtcd();
const closings: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

async function serve(flags: string[] = []): Promise<string> {
  const warmpath = startWarmpath(flags, { WARMPATH_INTERNAL_API_TOKEN: TOKEN });
  closings.push(() => {
    warmpath.signal("SIGKILL");
    return warmpath.exitCode;
  });
  return `http://127.0.0.1:${await warmpath.port}`;
}

function run(script: string, flags: string[]): Bun.Subprocess<"ignore", "ignore", "pipe"> {
  const process = Bun.spawn([Bun.argv[0], join(SCRIPTS, script), ...flags], {
    env: { ...Bun.env, WARMPATH_INTERNAL_API_TOKEN: TOKEN },
    stdio: ["ignore", "ignore", "pipe"],
  });
  closings.push(() => {
    process.kill("SIGKILL");
    return process.exited;
  });
  return process;
}

interface InstanceAnswer {
  name: string;
  state: string;
  registry: string;
  load: object | null;
  streams: { synchronized: boolean; device_blocks: number }[];
}

async function instancesOf(url: string): Promise<InstanceAnswer[]> {
  const answer = await fetch(`${url}/v1/instances`, { headers: { "x-internal-token": TOKEN } });
  return ((await answer.json()) as { instances: InstanceAnswer[] }).instances;
}

async function untilServing(url: string, name: string): Promise<InstanceAnswer> {
  let found: InstanceAnswer | undefined;
  await eventually(`${name} serves`, async () => {
    found = (await instancesOf(url)).find((instance) => instance.name === name);
    return found?.state === "ACTIVE" && found.load !== null && found.streams.some(({ synchronized }) => synchronized);
  });
  return found as InstanceAnswer;
}

/** Flags of an engine on free ports of this machine. */
function engineFlags(warmpathUrl: string): { name: string; flags: string[] } {
  const [http, event, replay] = freePorts(3);
  const name = `127.0.0.1:${http}`;
  const ports = [`--name=${name}`, `--event-port=${event}`, `--replay-port=${replay}`];
  return { name, flags: [...ports, `--warmpath=${warmpathUrl}`, "--bind=0.0.0.0"] };
}

describe("The simulated engine", () => {
  test("registers over HTTP, works off what traffic sends it, and takes itself out when it is stopped", async () => {
    const url = await serve();
    const { name, flags } = engineFlags(url);
    const engine = run("engine.ts", flags);
    expect((await untilServing(url, name)).registry).toBe("http");
    run("traffic.ts", [`--warmpath=${url}`, "--requests-per-second=20"]);
    await eventually("its cache fills", async () => ((await instancesOf(url))[0]?.streams[0]?.device_blocks ?? 0) > 20);
    engine.kill("SIGTERM");
    expect(await engine.exited).toBe(0);
    expect(await instancesOf(url)).toEqual([]);
  });

  test("registers again with a Warmpath that does not know it any more", async () => {
    const url = await serve();
    const { name, flags } = engineFlags(url);
    run("engine.ts", flags);
    await untilServing(url, name);
    const deleted = await fetch(`${url}/v1/instances/${name}`, { method: "DELETE", headers: { "x-internal-token": TOKEN } });
    expect(deleted.status).toBe(204);
    await untilServing(url, name);
  });

  test.skipIf(etcdBinary === null)("registers in etcd under a lease, where Warmpath's discovery finds its sockets", async () => {
    const etcd = await EtcdServer.start(etcdBinary ?? "");
    closings.push(() => etcd.stop());
    const [first] = freePortRuns(1, 3);
    const discovery = { enabled: true, topic: "xllm-kv", event_port_offset: 1, replay_port_offset: 2 };
    const file = await writeKvEventsFile({ discovery });
    const url = await serve(["--etcd-addr", `127.0.0.1:${etcd.port}`, "--kv-events-config-file", file]);
    const name = `127.0.0.1:${first}`;
    const ports = [`--event-port=${first + 1}`, `--replay-port=${first + 2}`];
    const engine = run("engine.ts", [`--name=${name}`, ...ports, `--warmpath=${url}`, `--etcd-addr=127.0.0.1:${etcd.port}`]);
    expect((await untilServing(url, name)).registry).toBe("etcd");
    const client = etcd.client();
    closings.push(() => client.close());
    expect((await client.getAll().prefix("XLLM:DEFAULT:").exec()).kvs[0]?.lease).not.toBe("0");
    engine.kill("SIGTERM");
    expect(await engine.exited).toBe(0);
    expect(await client.getAll().prefix("XLLM:").keys()).toEqual([]);
  });

  test("answers a prompt with how much of it was cached, and refuses what is none", async () => {
    const { name, flags } = engineFlags("http://127.0.0.1:1");
    run("engine.ts", flags);
    const url = `http://${name}`;
    await eventually("it listens", () =>
      fetch(`${url}/health`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const complete = (prompt: unknown) => fetch(`${url}/v1/completions`, { method: "POST", body: JSON.stringify({ prompt }) });
    const prompt = Array.from({ length: 300 }, (_, index) => index);
    const usageOf = async (answer: Response) => ((await answer.json()) as { usage: object }).usage;
    const usage = (cachedTokens: number) => ({ prompt_tokens: 300, prompt_tokens_details: { cached_tokens: cachedTokens } });
    expect(await usageOf(await complete(prompt))).toEqual(usage(0));
    expect(await usageOf(await complete(prompt))).toEqual(usage(256));
    for (const wrong of [null, "text", [1.5], [-1], [2 ** 32]]) expect((await complete(wrong)).status).toBe(400);
  });

  test("ends with code 2 for a wrong flag, and with 1 where its port is taken", async () => {
    const wrong = run("engine.ts", ["--block-size", "0"]);
    expect(await wrong.exited).toBe(2);
    expect(await wrong.stderr.text()).toContain("--block-size");
    const { flags } = engineFlags("http://127.0.0.1:1");
    const eventPort = Number(flags[1].split("=")[1]);
    const server = Bun.listen({ hostname: "0.0.0.0", port: eventPort, socket: { data() {} } });
    closings.push(() => server.stop());
    const second = run("engine.ts", flags);
    expect(await second.exited).toBe(1);
    expect(await second.stderr.text()).toContain("EADDRINUSE");
  });
});

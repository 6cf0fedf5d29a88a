import { afterEach, expect, test } from "bun:test";
import { SimulatedEngine } from "#sim";
import { EtcdServer, findEtcd } from "../support/etcd-server.ts";
import { startWarmpath, untilReady, type WarmpathProcess } from "./warmpath-process.ts";

const TOKEN = "a-token-that-nobody-may-read";
const WRONG_TOKEN = "another-token-of-someone-else";
const PASSWORD = "a-password-that-nobody-may-read";
const WRONG_PASSWORD = "another-password-of-yesterday";

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const CACHE = { blockSize: 16, deviceBlocksMax: 64, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" } as const;
const SECRETS_TIMEOUT_MS = 30_000;

const binary = await findEtcd();
const toStop: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  for (const server of toStop.splice(0)) await server.stop();
});

async function stop(warmpath: WarmpathProcess): Promise<string> {
  warmpath.signal("SIGTERM");
  await warmpath.exitCode;
  return (await warmpath.output).stderr;
}

/** The log as objects; throws where a line is none. */
function events(log: string): Record<string, unknown>[] {
  const lines = log.trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

test("Each line of the log is JSON with time, level, message and fields in snake_case", async () => {
  const engine = new SimulatedEngine({ name: "engine:8000", cache: CACHE });
  toStop.push({ stop: async () => engine.close() });
  const { endpoint, replayEndpoint, topic, blockSize } = engine.stream;
  const endpoints = { event_endpoints: [endpoint], replay_endpoints: [replayEndpoint] };
  const instance = { name: engine.name, engine: "xllm", block_size: blockSize, topic, ...endpoints };
  const warmpath = startWarmpath([]);
  const port = await warmpath.port;
  await untilReady(port);
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(instance) };
  expect((await fetch(`http://127.0.0.1:${port}/v1/instances`, request)).status).toBe(201);
  await warmpath.logged("Stream is not synchronized");

  const all = events(await stop(warmpath));
  for (const { time, level, message, ...fields } of all) {
    expect(time).toMatch(RFC_3339);
    expect(["info", "warn", "error"]).toContain(level as string);
    expect(message).toBeString();
    for (const name of Object.keys(fields)) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
  }
  expect(all).toContainEqual(expect.objectContaining({ level: "info", message: "Listening", host: "127.0.0.1", port }));
  expect(all.at(-1)).toMatchObject({ level: "info", message: "Stopping" });
});

test("The log leaves out what is below log_level, and is for people with log_format text", async () => {
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const warmpath = startWarmpath([`--http-server-port=${taken.port}`, "--log-level=error", "--log-format=text"]);
  expect(await warmpath.exitCode).toBe(1);
  const sentence = `ERROR Cannot listen on 127.0.0.1:${taken.port}`;
  expect((await warmpath.output).stderr).toMatch(new RegExp(`^\\S+Z ${sentence}[^\\n]*\\n$`));
  await taken.stop(true);
});

test("What ends the process is the last line of the log, at level error", async () => {
  const warmpath = startWarmpath([], { WARMPATH_LIBZMQ: "/does/not/exist.so" });
  expect(await warmpath.exitCode).toBe(1);
  const last = events((await warmpath.output).stderr).at(-1);
  expect(last).toMatchObject({ level: "error", message: expect.stringContaining("/does/not/exist.so") });
});

/** Starts with these credentials and waits until etcd has judged them, asks with right and wrong tokens, and stops. */
async function logOf(etcd: EtcdServer, password: string, judgement: string): Promise<string> {
  const environment = { ETCD_USERNAME: "warmpath", ETCD_PASSWORD: password, WARMPATH_INTERNAL_API_TOKEN: TOKEN };
  const warmpath = startWarmpath([`--etcd-addr=${etcd.endpoint}`, "--log-level=debug"], environment);
  const url = `http://127.0.0.1:${await warmpath.port}`;
  await warmpath.logged(judgement);
  for (const token of [TOKEN, WRONG_TOKEN]) {
    const headers = { "content-type": "application/json", "x-internal-token": token };
    for (const body of ['{"token_ids":[1]}', "{"]) {
      await fetch(`${url}/v1/internal/kv-cache/query`, { method: "POST", headers, body });
      await fetch(`${url}/v1/instances`, { method: "POST", headers, body });
    }
  }
  const metrics = await (await fetch(`${url}/metrics`)).text();
  await etcd.kill();
  const log = await stop(warmpath);
  await etcd.restart();
  return metrics + log;
}

test.skipIf(binary === null)(
  "No secret is in log or metrics, whatever is asked or refused",
  async () => {
    const etcd = await EtcdServer.start(binary as string);
    toStop.push(etcd);
    await etcd.enableAuthentication();
    const client = etcd.client();
    await client.user("warmpath").create(PASSWORD);
    await client.user("warmpath").addRole("root");
    client.close();

    const judged = [await logOf(etcd, PASSWORD, "Connected to etcd"), await logOf(etcd, WRONG_PASSWORD, "etcd refuses user")];
    const refused = startWarmpath([`--internal-api-token=${TOKEN}\n`], {
      WARMPATH_ETCD_ADDR: "nowhere",
      ETCD_PASSWORD: PASSWORD,
    });
    expect(await refused.exitCode).toBe(2);
    const written = [...judged, ...Object.values(await refused.output)].join("\n");
    for (const secret of [TOKEN, WRONG_TOKEN, PASSWORD, WRONG_PASSWORD]) {
      expect(written).not.toContain(secret);
      expect(written).not.toContain(Buffer.from(secret).toString("base64").slice(0, 20));
    }
  },
  SECRETS_TIMEOUT_MS,
);

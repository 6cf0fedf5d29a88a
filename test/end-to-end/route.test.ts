import { afterEach, expect, test } from "bun:test";
import { SimulatedEngine } from "#sim";
import { queryUntil, startWarmpath, untilReady, type WarmpathProcess, writeKvEventsFile } from "./warmpath-process.ts";

const PROMPT = Array.from({ length: 64 }, (_, index) => index * 7);
const NOTHING_HEARD = "no KV events are discovered or listed, CAR takes what the others hold as nothing";

let warmpath: WarmpathProcess | null = null;

afterEach(async () => {
  warmpath?.signal("SIGTERM");
  await warmpath?.exitCode;
  warmpath = null;
});

/** An engine that holds the prompt, and answers until it is stopped. */
function startEngine(): { engine: SimulatedEngine; stop: () => void } {
  const engine = new SimulatedEngine({
    name: "engine:8000",
    cache: { blockSize: 16, deviceBlocksMax: 64, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" },
  });
  engine.step([Uint32Array.from(PROMPT)]);
  const serving = setInterval(() => engine.serve(), 5);
  const stop = () => {
    clearInterval(serving);
    engine.close();
  };
  return { engine, stop };
}

async function start(...flags: string[]) {
  warmpath = startWarmpath(flags);
  const port = await warmpath.port;
  await untilReady(port);
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method, ...(body !== undefined && { headers, body: JSON.stringify(body) }) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };
  return { port, send, process: warmpath };
}

test("Warmpath routes a prompt to an instance that registers, for as long as it is there", async () => {
  const { engine, stop } = startEngine();
  const { port, send } = await start("--track-inflight", "true");
  expect(await send("GET", "/readyz")).toMatchObject({ status: 503, body: { type: "/problems/no-instance" } });
  const { endpoint, replayEndpoint, topic } = engine.stream;
  const endpoints = { event_endpoints: [endpoint], replay_endpoints: [replayEndpoint], topic };
  await send("POST", "/v1/instances", { name: engine.name, engine: "xllm", block_size: 16, ...endpoints });
  await send("POST", "/v1/internal/heartbeat", { name: engine.name, load_metrics: { waiting_requests_num: 2 } });
  expect((await send("GET", "/readyz")).status).toBe(200);
  await queryUntil(port, PROMPT, ({ synchronized }) => synchronized);

  const route = () => send("POST", "/v1/route", { token_ids: PROMPT, request_id: crypto.randomUUID() });
  const first = await route();
  const second = await route();
  expect(first.body.prefill).toEqual({
    instance_name: engine.name,
    address: engine.name,
    kv_hit_ratio: 1,
    queue_cost: 1,
    score: 0.5,
  });
  expect(second.body.candidates).toMatchObject([{ device_hit_tokens: 64, waiting_requests: 2, in_flight_requests: 1 }]);
  expect((await send("POST", `/v1/route/${second.body.request_id}/finished`, { phase: "decode" })).status).toBe(204);

  await send("DELETE", `/v1/instances/${engine.name}`);
  expect(await route()).toMatchObject({ status: 503, body: { type: "/problems/no-instance" } });
  expect((await send("GET", "/readyz")).status).toBe(503);
  stop();
});

test("Warmpath decides by the policy that is configured", async () => {
  const { send } = await start("--load-balance-policy=RR");
  for (const name of ["a:1", "b:1"]) await send("POST", "/v1/instances", { name, engine: "vllm" });
  const chosen: string[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const { body } = await send("POST", "/v1/route", { token_ids: [], explain: false });
    chosen.push(`${body.policy} ${body.prefill.instance_name}`);
  }
  expect(chosen).toEqual(["RR a:1", "RR b:1", "RR a:1", "RR b:1"]);
});

test("Warmpath warns once that CAR has nothing to go by when no KV events are configured, and only then", async () => {
  for (const [flags, warnings] of [
    [[], 1],
    [["--load-balance-policy=RR"], 0],
    [["--kv-events-config-file", await writeKvEventsFile({ discovery: { enabled: true } })], 0],
  ] as const) {
    const { process } = await start(...flags);
    process.signal("SIGTERM");
    expect((await process.output).stderr.split(NOTHING_HEARD).length - 1).toBe(warnings);
  }
});

test("Warmpath that only observes the streams of a list is ready without an instance", async () => {
  const streams = [{ instance_name: "a:1", endpoint: "tcp://127.0.0.1:9", replay_endpoint: "tcp://127.0.0.1:10" }];
  const { send } = await start("--kv-events-config-file", await writeKvEventsFile({ streams }));
  expect((await send("GET", "/readyz")).status).toBe(200);
  expect((await send("POST", "/v1/route", { token_ids: [1] })).status).toBe(503);
  await send("POST", "/v1/instances", { name: "a:1", engine: "vllm" });
  expect(await send("GET", "/readyz")).toMatchObject({ status: 503, body: { type: "/problems/no-instance" } });
});

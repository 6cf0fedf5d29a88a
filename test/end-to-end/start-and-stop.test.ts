import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SimulatedEngine } from "#sim";
import { queryUntil, startWarmpath, untilReady, type WarmpathProcess, writeKvEventsFile } from "./warmpath-process.ts";

const CACHE = { blockSize: 16, deviceBlocksMax: 64, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" } as const;
const STOP_LIMIT_MS = 2000;

let engine: SimulatedEngine;
let serving: Timer;

beforeAll(() => {
  engine = new SimulatedEngine({ name: "engine:8000", cache: CACHE });
  serving = setInterval(() => engine.serve(), 5);
});

afterAll(() => {
  clearInterval(serving);
  engine.close();
});

async function streamsFile(stream: { endpoint: string; replayEndpoint: string }): Promise<string> {
  return writeKvEventsFile({
    streams: [
      {
        instance_name: "engine:8000",
        block_size: CACHE.blockSize,
        topic: "xllm-kv",
        endpoint: stream.endpoint,
        replay_endpoint: stream.replayEndpoint,
      },
    ],
  });
}

async function stopsCleanly(warmpath: WarmpathProcess, signal: "SIGTERM" | "SIGINT"): Promise<void> {
  const askedAt = performance.now();
  warmpath.signal(signal);
  expect(await warmpath.exitCode).toBe(0);
  expect(performance.now() - askedAt).toBeLessThan(STOP_LIMIT_MS);
}

describe("Warmpath as a process", () => {
  test("answers what an engine holds, and ends with code 0 on SIGTERM", async () => {
    const prompt = Array.from({ length: 64 }, (_, index) => index * 3);
    engine.step([Uint32Array.from(prompt)]);
    const warmpath = startWarmpath(["--kv-events-config-file", await streamsFile(engine.stream)]);
    const match = await queryUntil(await warmpath.port, prompt, ({ synchronized }) => synchronized);
    expect(match).toMatchObject({ device_hit_tokens: 64, device_blocks: 4, sequence: engine.batchSeq, error: null });
    await stopsCleanly(warmpath, "SIGTERM");
  });

  test("ends with code 0 on SIGINT while the engine is gone", async () => {
    const nobody = { endpoint: "tcp://127.0.0.1:9", replayEndpoint: "tcp://127.0.0.1:10" };
    const warmpath = startWarmpath(["--kv-events-config-file", await streamsFile(nobody)]);
    const match = await queryUntil(await warmpath.port, [1], () => true);
    expect(match).toMatchObject({ synchronized: false, error: "not connected to the publisher yet" });
    await stopsCleanly(warmpath, "SIGINT");
  });

  test("ends with code 0 while a snapshot is on its way", async () => {
    const silent = new SimulatedEngine({ name: "silent:8000", cache: CACHE });
    const warmpath = startWarmpath(["--kv-events-config-file", await streamsFile(silent.stream)]);
    const match = await queryUntil(await warmpath.port, [1], ({ error }) => error !== "not connected to the publisher yet");
    expect(match.error).toBe("waiting for the engine's snapshot");
    await stopsCleanly(warmpath, "SIGTERM");
    silent.close();
  });

  test("answers a request that is on its way when it is asked to stop", async () => {
    const warmpath = startWarmpath([]);
    const port = await warmpath.port;
    await untilReady(port);
    const body = new Uint8Array(4 * 1024);
    const answered = Promise.withResolvers<string>();
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data: (_socket, bytes) => answered.resolve(bytes.toString()), close: () => answered.resolve("closed") },
    });
    socket.write(
      "POST /v1/internal/kv-cache/query HTTP/1.1\r\nHost: warmpath\r\nContent-Type: application/octet-stream\r\n" +
        `Content-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, 1024));
    // Answered after the server has taken what came before.
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    warmpath.signal("SIGTERM");
    await warmpath.logged("Stopping");
    socket.write(body.subarray(1024));
    expect(await answered.promise).toStartWith("HTTP/1.1 200");
    expect(await warmpath.exitCode).toBe(0);
  });
});

describe("A start that cannot succeed", () => {
  const cases: [string, object | string, RegExp][] = [
    ["an unknown field", { stream: [] }, /stream/],
    ["both discovery and streams", { discovery: { enabled: true }, streams: [{ instance_name: "a" }] }, /discovery/],
    ["a file that is not JSON", "{", /JSON/],
    [
      "a wildcard endpoint",
      { streams: [{ instance_name: "a", endpoint: "tcp://*:1", replay_endpoint: "tcp://0.0.0.0:2" }] },
      /tcp:\/\/\*:1[\s\S]*tcp:\/\/0\.0\.0\.0:2/,
    ],
    [
      "a port out of range",
      { streams: [{ instance_name: "a", endpoint: "tcp://h:70000", replay_endpoint: "tcp://h:1" }] },
      /70000/,
    ],
    [
      "duplicate streams",
      {
        streams: [
          { instance_name: "a", endpoint: "tcp://h:1", replay_endpoint: "tcp://h:2" },
          { instance_name: "a", endpoint: "tcp://h:3", replay_endpoint: "tcp://h:4" },
        ],
      },
      /instance "a" rank 0/,
    ],
  ];

  for (const [what, content, message] of cases) {
    test(`names ${what} and ends with code 2`, async () => {
      const warmpath = startWarmpath(["--kv-events-config-file", await writeKvEventsFile(content)]);
      expect(await warmpath.exitCode).toBe(2);
      expect((await warmpath.output).stderr).toMatch(message);
    });
  }

  test("names a missing file and ends with code 2", async () => {
    const warmpath = startWarmpath(["--kv-events-config-file=/does/not/exist.json"]);
    expect(await warmpath.exitCode).toBe(2);
    expect((await warmpath.output).stderr).toContain("/does/not/exist.json");
  });

  test("names every wrong flag at once and ends with code 2", async () => {
    const warmpath = startWarmpath(["--http-server-port", "70000", "--no-such-flag", "1"]);
    expect(await warmpath.exitCode).toBe(2);
    expect((await warmpath.output).stderr).toMatch(/70000[\s\S]*no-such-flag|no-such-flag[\s\S]*70000/);
  });

  test("names the port that is taken and ends with code 1", async () => {
    const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const warmpath = startWarmpath(["--http-server-port", String(taken.port)]);
    expect(await warmpath.exitCode).toBe(1);
    expect((await warmpath.output).stderr).toContain(`Cannot listen on 127.0.0.1:${taken.port}`);
    await taken.stop(true);
  });

  test("names the libzmq that does not load and ends with code 1", async () => {
    const warmpath = startWarmpath([], { WARMPATH_LIBZMQ: "/does/not/exist.so" });
    expect(await warmpath.exitCode).toBe(1);
    expect((await warmpath.output).stderr).toContain("/does/not/exist.so");
  });
});

test("--help prints every setting and ends with code 0", async () => {
  const warmpath = startWarmpath(["--help"]);
  expect(await warmpath.exitCode).toBe(0);
  expect((await warmpath.output).stdout).toContain("--kv-events-config-file");
});

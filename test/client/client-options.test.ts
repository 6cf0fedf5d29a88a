import { describe, expect, test } from "bun:test";
import { type ClientConnection, resolveClientOptions } from "../../src/client/lib/client-options.ts";

const resolve = (connection: Partial<ClientConnection> & object, environment: Record<string, string> = {}) =>
  resolveClientOptions({ engine: "vllm", host: "10.0.0.5", ...connection } as ClientConnection, environment);

describe("resolveClientOptions", () => {
  test("resolveClientOptions has AIBrix's defaults", () => {
    expect(resolve({})).toEqual({
      endpoint: "tcp://10.0.0.5:5557",
      replayEndpoint: "tcp://10.0.0.5:5558",
      topic: "",
      engine: "vllm",
      rank: 0,
      podKey: "10.0.0.5:5557",
      maxMessageBytes: 8_388_608,
      pollTimeoutMs: 100,
      replayTimeoutMs: 5000,
      reconnectIntervalMs: 1000,
    });
  });

  test("resolveClientOptions counts ports up by the rank", () => {
    expect(resolve({ pubPort: 6000, routerPort: 7000, rank: 3 })).toMatchObject({
      endpoint: "tcp://10.0.0.5:6003",
      replayEndpoint: "tcp://10.0.0.5:7003",
      rank: 3,
    });
  });

  test("resolveClientOptions takes endpoints as they are, and none for the replay", () => {
    expect(resolve({ endpoint: "tcp://p-3:1" })).toMatchObject({
      endpoint: "tcp://p-3:1",
      replayEndpoint: null,
      podKey: "p-3:1",
    });
    expect(resolve({ routerPort: null }).replayEndpoint).toBeNull();
  });

  test("resolveClientOptions brackets an IPv6 host", () => {
    expect(resolve({ host: "fd00::5" }).endpoint).toBe("tcp://[fd00::5]:5557");
  });

  test("resolveClientOptions reads Go durations from the environment", () => {
    const environment = {
      AIBRIX_ZMQ_POLL_TIMEOUT: "20ms",
      AIBRIX_ZMQ_REPLAY_TIMEOUT: "1m30s",
      AIBRIX_ZMQ_RECONNECT_INTERVAL: "",
    };
    expect(resolve({}, environment)).toMatchObject({ pollTimeoutMs: 20, replayTimeoutMs: 90_000, reconnectIntervalMs: 1000 });
  });

  test("resolveClientOptions names the variable that is wrong", () => {
    for (const found of ["100", "0s", "2h", "soon"]) {
      expect(() => resolve({}, { AIBRIX_ZMQ_REPLAY_TIMEOUT: found })).toThrow(`AIBRIX_ZMQ_REPLAY_TIMEOUT "${found}"`);
    }
  });

  test("resolveClientOptions refuses options out of range", () => {
    expect(() => resolve({ engine: "trt" as "vllm" })).toThrow('engine "trt"');
    expect(() => resolve({ rank: -1 })).toThrow("rank -1");
    expect(() => resolve({ pubPort: 65_535, rank: 1 })).toThrow("port 65536");
    expect(() => resolve({ endpoint: "10.0.0.5:5557" })).toThrow('endpoint "10.0.0.5:5557"');
    expect(() => resolve({ endpoint: "tcp://a:1", replayEndpoint: "a:2" })).toThrow('endpoint "a:2"');
    expect(() => resolve({ maxMessageBytes: 0 })).toThrow("maxMessageBytes 0");
  });
});

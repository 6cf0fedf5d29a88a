import { describe, expect, test } from "bun:test";
import { readInstanceMeta } from "../../../src/fleet/etcd/instance-meta.ts";

const NAME = "10.0.0.5:9000";

/** As an engine of xLLM writes it. */
const ENGINE = {
  addrs: ["10.0.0.5:26000"],
  cluster_ids: [1],
  dp_size: 2,
  incarnation_id: "k3Jx",
  kv_split_size: 1,
  model_weight_segments: null,
  name: NAME,
  ports: [26000],
  register_ts_ms: 1790000000000,
  rpc_address: "10.0.0.5:9001",
  total_phy_pages: 0,
  tpot_profiling_data: [[512, 8, 21.5]],
  ttft_profiling_data: [[1024, 85.0]],
  type: 1,
  worker_free_phy_pages: [],
};

const MINIMAL = { name: NAME, rpc_address: "", type: 1 };

function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
}

function reason(fields: object): unknown {
  const read = readInstanceMeta("PREFILL", NAME, bytes({ ...MINIMAL, ...fields }));
  return read.kind === "problem" ? read.reason : read;
}

function registration(fields: object) {
  const read = readInstanceMeta("PREFILL", NAME, bytes({ ...MINIMAL, ...fields }));
  if (read.kind === "problem") throw new Error(read.reason);
  return read.value;
}

describe("readInstanceMeta", () => {
  test("readInstanceMeta reads what an xLLM engine writes", () => {
    expect(registration(ENGINE)).toEqual({
      name: NAME,
      address: NAME,
      role: "PREFILL",
      backend: "xllm",
      incarnation: "k3Jx",
      dpSize: 2,
      blockSize: null,
      hashSeed: 1024,
      topic: null,
      curveServerKey: null,
      eventEndpoints: null,
      replayEndpoints: null,
      ttftSamples: [[1024, 85]],
      tpotSamples: [[512, 8, 21.5]],
    });
  });

  test("readInstanceMeta reads what a vLLM sidecar writes", () => {
    const value = {
      name: "10.0.0.7:8000",
      rpc_address: "10.0.0.7:8000",
      type: 0,
      backend_type: "vllm",
      incarnation_id: "vllm-3f2a9c01b7de",
      register_ts_ms: 1790000000000,
    };
    expect(readInstanceMeta("DEFAULT", "10.0.0.7:8000", bytes(value))).toMatchObject({
      kind: "value",
      value: { backend: "vllm", incarnation: "vllm-3f2a9c01b7de", dpSize: 1, ttftSamples: [], tpotSamples: [] },
    });
  });

  test("readInstanceMeta has a default for everything that is absent, null or empty", () => {
    const defaults = { backend: "xllm", incarnation: "", dpSize: 1, ttftSamples: [], tpotSamples: [] };
    expect(registration({})).toMatchObject(defaults);
    const optional = [
      "incarnation_id",
      "register_ts_ms",
      "dp_size",
      "backend_type",
      "ttft_profiling_data",
      "tpot_profiling_data",
    ];
    expect(registration(Object.fromEntries(optional.map((field) => [field, null])))).toMatchObject(defaults);
    expect(registration({ incarnation_id: "", register_ts_ms: 0, dp_size: 0, backend_type: "" })).toMatchObject(defaults);
  });

  test("readInstanceMeta takes the time of registration for the incarnation of older engines", () => {
    expect(registration({ register_ts_ms: 1790000000000 }).incarnation).toBe("register_ts_ms:1790000000000");
  });

  test("readInstanceMeta lets the key's name override the value's", () => {
    expect(registration({ name: "elsewhere:1" }).name).toBe(NAME);
  });

  test.each([
    [{ type: 7 }, "type is 7, one of 0 DEFAULT, 1 PREFILL, 2 DECODE, 3 MIX is needed"],
    [{ type: "1" }, 'type is "1", one of 0 DEFAULT, 1 PREFILL, 2 DECODE, 3 MIX is needed'],
    [{ type: 1.5 }, "type is 1.5, one of 0 DEFAULT, 1 PREFILL, 2 DECODE, 3 MIX is needed"],
    [{ type: undefined }, "type is missing, one of 0 DEFAULT, 1 PREFILL, 2 DECODE, 3 MIX is needed"],
    [{ type: 2 }, `type is 2 DECODE, 1 PREFILL is needed under the key "XLLM:PREFILL:${NAME}"`],
    [{ rpc_address: undefined }, "rpc_address is missing, a string is needed"],
    [{ name: null }, "name is null, a string is needed"],
    [{ dp_size: -1 }, "dp_size is -1, an integer from 0 to 4096 is needed"],
    [{ dp_size: 4097 }, "dp_size is 4097, an integer from 0 to 4096 is needed"],
    [{ incarnation_id: 5 }, "incarnation_id is 5, a string is needed"],
    [{ register_ts_ms: "now" }, 'register_ts_ms is "now", an integer from 0 is needed'],
    [{ backend_type: {} }, "backend_type is {}, a string is needed"],
    [{ ttft_profiling_data: [[1]] }, "ttft_profiling_data is [[1]], a list of [prompt tokens, milliseconds] is needed"],
    [
      { tpot_profiling_data: [[1, 2, "3"]] },
      'tpot_profiling_data is [[1,2,"3"]], a list of [average tokens, requests, milliseconds] is needed',
    ],
    [{ name: ["x".repeat(100)] }, `name is ["${"x".repeat(58)}…, a string is needed`],
  ])("readInstanceMeta refuses %j and says why", (fields, expected) => {
    expect(reason(fields)).toBe(expected);
  });

  test.each([
    ["", 'the value is "", JSON is needed'],
    ["{", 'the value is "{", JSON is needed'],
    ["null", "the value is null, a JSON object is needed"],
    ["[1]", "the value is [1], a JSON object is needed"],
    ['"x"', 'the value is "x", a JSON object is needed'],
  ])("readInstanceMeta refuses the value %j", (value, expected) => {
    expect(readInstanceMeta("PREFILL", NAME, bytes(value))).toEqual({ kind: "problem", reason: expected });
  });

  test("readInstanceMeta refuses bytes that are not UTF-8, and values without end", () => {
    expect(readInstanceMeta("PREFILL", NAME, Uint8Array.of(0xff))).toEqual({
      kind: "problem",
      reason: 'the value is "\ufffd", JSON is needed',
    });
    const reason = "the value has 1048577 bytes, at most 1048576 are allowed";
    expect(readInstanceMeta("PREFILL", NAME, new Uint8Array(1024 * 1024 + 1))).toEqual({ kind: "problem", reason });
  });

  test.each(["engine-1", "engine-1:0", "engine-1:65536", "0.0.0.0:8000", "http://engine-1:8000"])(
    "readInstanceMeta refuses the name %j, to which nobody can connect",
    (name) => {
      const reason = `the key names "${name}", host:port of the instance's HTTP address is needed`;
      expect(readInstanceMeta("PREFILL", name, bytes(MINIMAL))).toEqual({ kind: "problem", reason });
    },
  );

  test.each(["engine_1:8000", "[::1]:8000", "engine-1.fleet.svc:8000"])("readInstanceMeta takes the name %j", (name) => {
    expect(readInstanceMeta("PREFILL", name, bytes(MINIMAL))).toMatchObject({ kind: "value", value: { name, address: name } });
  });
});

import { expect, test } from "bun:test";
import { readRegistration } from "../../../src/http/instances/registration.ts";
import { caughtProblem } from "../caught-problem.ts";

const A = "10.0.0.5:8000";
const CURVE_KEY = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
const events = ["tcp://10.0.0.5:5557", "tcp://10.0.0.5:5558"];
const replays = ["tcp://10.0.0.5:6557", "tcp://10.0.0.5:6558"];

test("readRegistration fills in what a registration leaves out", () => {
  expect(readRegistration({ name: A, engine: "vllm" })).toEqual({
    leaseMs: null,
    registration: {
      name: A,
      address: A,
      role: "DEFAULT",
      backend: "vllm",
      incarnation: "",
      dpSize: 1,
      blockSize: null,
      hashSeed: 1024,
      topic: null,
      curveServerKey: null,
      eventEndpoints: null,
      replayEndpoints: [null],
      ttftSamples: [],
      tpotSamples: [],
    },
  });
});

test("readRegistration takes every field", () => {
  const fields = {
    name: "prefill one",
    address: "[::1]:8000",
    role: "MIX",
    engine: "sglang",
    incarnation_id: "k3Jx",
    register_ts_ms: 1_790_000_000_000,
    dp_size: 2,
    block_size: 16,
    hash_seed: 0,
    topic: "kv",
    curve_server_key: CURVE_KEY,
    event_endpoints: events,
    replay_endpoints: replays,
    ttft_profiling_data: [[1024, 85.5]],
    tpot_profiling_data: [[512, 8, 21.5]],
    lease_seconds: 30,
  };
  expect(readRegistration(fields)).toEqual({
    leaseMs: 30_000,
    registration: {
      name: "prefill one",
      address: "[::1]:8000",
      role: "MIX",
      backend: "sglang",
      incarnation: "k3Jx",
      dpSize: 2,
      blockSize: 16,
      hashSeed: 0,
      topic: "kv",
      curveServerKey: CURVE_KEY,
      eventEndpoints: events,
      replayEndpoints: replays,
      ttftSamples: [[1024, 85.5]],
      tpotSamples: [[512, 8, 21.5]],
    },
  });
});

test("readRegistration takes null for absent", () => {
  const fields = { address: null, role: null, dp_size: null, event_endpoints: null, lease_seconds: null };
  expect(readRegistration({ name: A, engine: "vllm", ...fields })).toEqual(readRegistration({ name: A, engine: "vllm" }));
});

test.each([
  [{ incarnation_id: "k3Jx", register_ts_ms: 7 }, "k3Jx"],
  [{ register_ts_ms: 7 }, "register_ts_ms:7"],
  [{ incarnation_id: "", register_ts_ms: 0 }, ""],
])("readRegistration makes the identity of %j %p", (fields, incarnation) => {
  expect(readRegistration({ name: A, engine: "xllm", ...fields }).registration.incarnation).toBe(incarnation);
});

test.each([
  ["xllm", {}, null, null],
  ["xllm", { replay_endpoints: replays }, null, replays],
  ["vllm", {}, null, [null, null]],
  ["sglang", { event_endpoints: events }, events, [null, null]],
  ["vllm", { event_endpoints: events, replay_endpoints: replays }, events, replays],
])("readRegistration knows where %s with %j publishes", (engine, fields, eventEndpoints, replayEndpoints) => {
  const { registration } = readRegistration({ name: A, engine, dp_size: 2, ...fields });
  expect(registration).toMatchObject({ eventEndpoints, replayEndpoints });
});

test("readRegistration spells endpoints in one way", () => {
  const { registration } = readRegistration({ name: A, engine: "vllm", event_endpoints: ["tcp://P-3:05557"] });
  expect(registration.eventEndpoints).toEqual(["tcp://p-3:5557"]);
});

const nameAllowed = "1 to 253 printable ASCII characters without a space at either end are allowed";
const endpointAllowed = "tcp://host:port with a port from 1 to 65535 and no wildcard host (*, 0.0.0.0, [::]) is allowed";
const curveKeyAllowed = "a public CURVE key, 40 characters of Z85, is allowed";
const ttftAllowed = "[prompt tokens, milliseconds] is allowed";

test.each<[object, Record<string, string>]>([
  [{ name: undefined }, { "/name": `found no such field, ${nameAllowed}` }],
  [{ name: "" }, { "/name": `found "", ${nameAllowed}` }],
  [{ name: 7 }, { "/name": `found 7, ${nameAllowed}` }],
  [{ name: "a b:1 " }, { "/name": `found "a b:1 ", ${nameAllowed}` }],
  [{ name: "a\n:1" }, { "/name": `found "a\\n:1", ${nameAllowed}` }],
  [{ name: "\u00e9:1" }, { "/name": `found "\u00e9:1", ${nameAllowed}` }],
  [{ name: `${"a".repeat(252)}:1` }, { "/name": `found "${"a".repeat(63)}…, ${nameAllowed}` }],
  [{ name: "a" }, { "/name": 'found "a", without address only host:port with a port from 1 to 65535 is allowed' }],
  [
    { name: "0.0.0.0:1" },
    { "/name": 'found "0.0.0.0:1", without address only host:port with a port from 1 to 65535 is allowed' },
  ],
  [{ address: "a" }, { "/address": 'found "a", host:port with a port from 1 to 65535 is allowed' }],
  [{ address: "a:65536" }, { "/address": 'found "a:65536", host:port with a port from 1 to 65535 is allowed' }],
  [{ address: "http://a:1" }, { "/address": 'found "http://a:1", host:port with a port from 1 to 65535 is allowed' }],
  [{ address: 1 }, { "/address": "found 1, host:port of the instance's HTTP door is allowed" }],
  [{ engine: undefined }, { "/engine": "found no such field, one of xllm, vllm, sglang is allowed" }],
  [{ engine: "tgi" }, { "/engine": 'found "tgi", one of xllm, vllm, sglang is allowed' }],
  [{ role: "prefill" }, { "/role": 'found "prefill", one of DEFAULT, PREFILL, DECODE, MIX is allowed' }],
  [{ dp_size: 0 }, { "/dp_size": "found 0, an integer from 1 to 4096 is allowed" }],
  [{ dp_size: "1" }, { "/dp_size": 'found "1", an integer from 1 to 4096 is allowed' }],
  [{ block_size: 4097 }, { "/block_size": "found 4097, an integer from 1 to 4096 is allowed" }],
  [{ hash_seed: 2 ** 32 }, { "/hash_seed": "found 4294967296, an integer from 0 to 4294967295 is allowed" }],
  [{ register_ts_ms: 1.5 }, { "/register_ts_ms": "found 1.5, an integer from 0 to 9007199254740991 is allowed" }],
  [{ lease_seconds: 0 }, { "/lease_seconds": "found 0, an integer from 1 to 86400 is allowed" }],
  [{ lease_seconds: 86_401 }, { "/lease_seconds": "found 86401, an integer from 1 to 86400 is allowed" }],
  [{ curve_server_key: "0" }, { "/curve_server_key": `found "0", ${curveKeyAllowed}` }],
  [{ curve_server_key: "#".repeat(40) }, { "/curve_server_key": `found "${"#".repeat(40)}", ${curveKeyAllowed}` }],
  [{ curve_server_key: 1 }, { "/curve_server_key": `found 1, ${curveKeyAllowed}` }],
  [{ topic: 1 }, { "/topic": "found 1, a string of at most 1024 characters is allowed" }],
  [{ incarnation_id: [] }, { "/incarnation_id": "found [], a string of at most 1024 characters is allowed" }],
  [{ lease: 30 }, { "/lease": expect.stringMatching(/^found an unknown field, allowed are name, address, role, engine, /) }],
  [
    { event_endpoints: "tcp://a:1" },
    { "/event_endpoints": 'found "tcp://a:1", an array with one endpoint for each rank is allowed' },
  ],
  [{ event_endpoints: [1] }, { "/event_endpoints/0": `found 1, ${endpointAllowed}` }],
  [{ event_endpoints: ["tcp://*:1"] }, { "/event_endpoints/0": `found "tcp://*:1", ${endpointAllowed}` }],
  [{ replay_endpoints: ["tcp://0.0.0.0:1"] }, { "/replay_endpoints/0": `found "tcp://0.0.0.0:1", ${endpointAllowed}` }],
  [{ event_endpoints: [] }, { "/event_endpoints": "found 0 endpoints, as many as dp_size 1 are allowed" }],
  [
    { event_endpoints: events, replay_endpoints: replays },
    {
      "/event_endpoints": "found 2 endpoints, as many as dp_size 1 are allowed",
      "/replay_endpoints": "found 2 endpoints, as many as dp_size 1 are allowed",
    },
  ],
  [
    { dp_size: 2, event_endpoints: ["tcp://a:1", "tcp://A:01"] },
    { "/event_endpoints/1": 'found "tcp://A:01" as in /event_endpoints/0, an endpoint of its own is allowed' },
  ],
  [
    { event_endpoints: ["tcp://a:1"], replay_endpoints: ["tcp://a:1"] },
    { "/replay_endpoints/0": 'found "tcp://a:1" as in /event_endpoints/0, an endpoint of its own is allowed' },
  ],
  [
    { engine: "xllm", event_endpoints: ["tcp://a:1"] },
    {
      "/replay_endpoints":
        "found no such field, an xllm instance with event_endpoints must say where it answers with its snapshot",
    },
  ],
  [{ ttft_profiling_data: {} }, { "/ttft_profiling_data": `found {}, an array of at most 1024 samples ${ttftAllowed}` }],
  [{ ttft_profiling_data: [[1, 2, 3]] }, { "/ttft_profiling_data/0": `found [1,2,3], ${ttftAllowed}` }],
  [{ ttft_profiling_data: [[1, -2]] }, { "/ttft_profiling_data/0/1": "found -2, a number from 0 is allowed" }],
  [{ tpot_profiling_data: [[1, 2, "3"]] }, { "/tpot_profiling_data/0/2": 'found "3", a number from 0 is allowed' }],
  [
    { address: "a", event_endpoints: ["b"] },
    {
      "/address": 'found "a", host:port with a port from 1 to 65535 is allowed',
      "/event_endpoints/0": `found "b", ${endpointAllowed}`,
    },
  ],
])("readRegistration refuses %j", (changes, errors) => {
  const fields = Object.entries({ name: A, engine: "vllm", ...changes }).filter(([, value]) => value !== undefined);
  const problem = caughtProblem(() => readRegistration(Object.fromEntries(fields)));
  expect(problem.status).toBe(422);
  expect(problem.errors).toEqual(Object.entries(errors).map(([pointer, detail]) => ({ pointer, detail })));
});

test("readRegistration names no more wrong fields than its limit", () => {
  const event_endpoints = Array.from({ length: 100 }, () => "nowhere");
  const problem = caughtProblem(() => readRegistration({ name: A, engine: "vllm", dp_size: 100, event_endpoints }));
  expect(problem.errors).toHaveLength(16);
});

import { describe, expect, test } from "bun:test";
import type { InstanceRegistration } from "#domain";
import { deriveStreams } from "../../../src/fleet/subscriptions/endpoints.ts";
import { RULES } from "../../support/subscription-rules.ts";
import { register, streamOf } from "./registered.ts";

const NAME = "10.0.0.5:8000";

function derive(fields: Partial<InstanceRegistration>, rules = RULES) {
  return deriveStreams(register(NAME, fields), rules);
}

describe("deriveStreams", () => {
  test("deriveStreams gives each rank its endpoints by the offsets, and the rules' block size and topic", () => {
    expect(derive({ dpSize: 2 })).toEqual({
      streams: [streamOf(NAME), streamOf(NAME, { dpRank: 1 })],
      endpoints: ["tcp://10.0.0.5:18000", "tcp://10.0.0.5:18001", "tcp://10.0.0.5:38000", "tcp://10.0.0.5:38001"],
    });
  });

  test("deriveStreams gives the rules' CURVE key to instances that registered none of their own", () => {
    const rules = { ...RULES, curveServerKey: "key of all" };
    expect(derive({}, rules)).toMatchObject({ streams: [{ curveServerKey: "key of all" }] });
    expect(derive({ curveServerKey: "own key" }, rules)).toMatchObject({ streams: [{ curveServerKey: "own key" }] });
  });

  test("deriveStreams takes what the instance registered before the rules", () => {
    const found = derive({
      backend: "vllm",
      dpSize: 2,
      blockSize: 16,
      topic: "kv",
      hashSeed: 7,
      incarnation: "",
      eventEndpoints: ["tcp://HOST:05557", "tcp://host:5558"],
      replayEndpoints: [null, "tcp://host:5559"],
    });
    const own = { engine: "vllm", blockSize: 16, topic: "kv", hashSeed: 7, incarnation: "" } as const;
    expect(found).toEqual({
      streams: [
        streamOf(NAME, { ...own, endpoint: "tcp://HOST:05557", replayEndpoint: null }),
        streamOf(NAME, { ...own, dpRank: 1, endpoint: "tcp://host:5558", replayEndpoint: "tcp://host:5559" }),
      ],
      endpoints: ["tcp://host:5557", "tcp://host:5558", "tcp://host:5559"],
    });
  });

  test.each(["xllm", "vllm", "sglang"] as const)("deriveStreams finds the replay endpoints of %s by the offset", (backend) => {
    const found = derive({ backend, eventEndpoints: ["tcp://10.0.0.9:1"] });
    expect(found).toMatchObject({
      streams: [{ engine: backend, endpoint: "tcp://10.0.0.9:1", replayEndpoint: "tcp://10.0.0.5:38000" }],
    });
  });

  test("deriveStreams understands an IPv6 address in brackets, and compares it in one spelling", () => {
    expect(derive({ address: "[FD00::0:1]:8000" })).toMatchObject({
      streams: [{ endpoint: "tcp://[FD00::0:1]:18000", replayEndpoint: "tcp://[FD00::0:1]:38000" }],
      endpoints: ["tcp://[fd00::1]:18000", "tcp://[fd00::1]:38000"],
    });
  });

  test("deriveStreams follows an instance's own endpoints where discovery is not enabled", () => {
    const own = { eventEndpoints: ["tcp://10.0.0.5:1"], replayEndpoints: ["tcp://10.0.0.5:2"] };
    expect(derive(own, { ...RULES, isDiscoveryEnabled: false })).toMatchObject({ streams: [{ endpoint: "tcp://10.0.0.5:1" }] });
  });
});

const EXCLUDED: [reason: string, kind: string, fields: Partial<InstanceRegistration>, rules?: Partial<typeof RULES>][] = [
  ['the KV events of backend "trt" are not known', "settled", { backend: "trt", eventEndpoints: ["tcp://10.0.0.5:1"] }],
  [
    "discovery is not enabled, and it registered no event endpoints of its own",
    "settled",
    { replayEndpoints: ["tcp://10.0.0.5:2"] },
    { isDiscoveryEnabled: false },
  ],
  ["4000000000 streams needed, max_streams is 128", "limit", { dpSize: 4_000_000_000 }],
  ["event port 75000 of rank 0 is beyond 65535", "fault", { address: "h:65000" }],
  ["event port 65536 of rank 1 is beyond 65535", "fault", { address: "h:55535", dpSize: 2 }],
  ["replay port 65536 of rank 2 is beyond 65535", "fault", { address: "h:35534", dpSize: 3 }],
  ['address "10.0.0.5" is not host:port of one machine, with a port from 1 to 65535', "fault", { address: "10.0.0.5" }],
  ['address "h:http" is not host:port of one machine, with a port from 1 to 65535', "fault", { address: "h:http" }],
  ['address "h:0" is not host:port of one machine, with a port from 1 to 65535', "fault", { address: "h:0" }],
  ['address "::1:8000" is not host:port of one machine, with a port from 1 to 65535', "fault", { address: "::1:8000" }],
  ['address "0.0.0.0:80" is not host:port of one machine, with a port from 1 to 65535', "fault", { address: "0.0.0.0:80" }],
  ['address "" is not host:port of one machine, with a port from 1 to 65535', "fault", { address: "" }],
  ["1 event endpoints for 2 ranks, one for each is needed", "fault", { dpSize: 2, eventEndpoints: ["tcp://h:1"] }],
  ["2 replay endpoints for 1 ranks, one for each is needed", "fault", { replayEndpoints: ["tcp://h:1", "tcp://h:2"] }],
  [
    'event endpoint "tcp://*:2" of rank 1 is not tcp://host:port of one machine',
    "fault",
    { dpSize: 2, eventEndpoints: ["tcp://h:1", "tcp://*:2"] },
  ],
  ['replay endpoint "ipc://x" of rank 0 is not tcp://host:port of one machine', "fault", { replayEndpoints: ["ipc://x"] }],
  ["rank 1 has no replay endpoint, which an xllm engine needs", "fault", { dpSize: 2, replayEndpoints: ["tcp://h:1", null] }],
  [
    'endpoint "tcp://h:1" is named twice',
    "fault",
    { backend: "vllm", eventEndpoints: ["tcp://h:1"], replayEndpoints: ["tcp://H:01"] },
  ],
];

test.each(EXCLUDED)("deriveStreams says: %s", (reason, kind, fields, rules = {}) => {
  expect(derive(fields, { ...RULES, ...rules })).toEqual({ kind, reason } as ReturnType<typeof derive>);
});

import { describe, expect, test } from "bun:test";
import type { InstanceRegistration } from "#domain";
import { readPod } from "../../../src/fleet/kubernetes/pod.ts";
import { type PodTraits, podWith } from "./pods.ts";

function registrationOf(traits: PodTraits): InstanceRegistration {
  const { presence } = readPod(podWith(traits));
  if (presence.kind !== "there") throw new Error(`The pod is not there: ${JSON.stringify(presence)}`);
  return presence.registration;
}

function annotated(annotations: Record<string, string>): InstanceRegistration {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`warmpath.io/${name}`, value]);
  return registrationOf({ annotations: Object.fromEntries(prefixed) });
}

function reasonOf(annotations: Record<string, string>): string | null {
  const { presence } = readPod(podWith({ annotations }));
  return presence.kind === "wrong" ? presence.reason : null;
}

describe("A pod without annotations", () => {
  test("is a vLLM instance on port 8000 with its uid as incarnation", () => {
    expect(readPod(podWith())).toEqual({
      uid: "uid-a",
      podName: "llm/a",
      presence: {
        kind: "there",
        registration: {
          name: "10.0.0.5:8000",
          address: "10.0.0.5:8000",
          role: "DEFAULT",
          backend: "vllm",
          incarnation: "uid-a",
          dpSize: 1,
          blockSize: null,
          hashSeed: 1024,
          topic: null,
          curveServerKey: null,
          eventEndpoints: ["tcp://10.0.0.5:5557"],
          replayEndpoints: [null],
          ttftSamples: [],
          tpotSamples: [],
        },
      },
    });
  });

  test("has the port named http, whichever container has it", () => {
    const containers = [[{ name: "metrics", containerPort: 9090 }], [{ name: "http", containerPort: 30000 }]];
    expect(registrationOf({ containers }).name).toBe("10.0.0.5:30000");
  });

  test("has the first TCP port when none is named http", () => {
    const containers = [[{ containerPort: 53, protocol: "UDP" }], [{ containerPort: 9000 }, { containerPort: 9001 }]];
    expect(registrationOf({ containers }).name).toBe("10.0.0.5:9000");
  });

  test("has its IPv6 address in brackets everywhere", () => {
    const { name, eventEndpoints } = registrationOf({ podIP: "fd00::5" });
    expect([name, eventEndpoints]).toEqual(["[fd00::5]:8000", ["tcp://[fd00::5]:5557"]]);
  });

  test("may have null where there are no annotations and no ports", () => {
    const pod = podWith();
    const presence = readPod({ ...pod, metadata: { ...pod.metadata, annotations: null }, spec: { containers: null } }).presence;
    expect(presence.kind).toBe("there");
  });
});

describe("A pod's annotations", () => {
  test("say all that an instance is", () => {
    const registration = annotated({
      port: "9000",
      role: "PREFILL",
      engine: "sglang",
      "dp-size": "2",
      "block-size": "64",
      topic: "kv",
      "event-port": "6000",
      "replay-port": "7000",
      "hash-seed": "0",
      "curve-server-key": "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
    });
    expect(registration).toMatchObject({
      name: "10.0.0.5:9000",
      role: "PREFILL",
      backend: "sglang",
      dpSize: 2,
      blockSize: 64,
      topic: "kv",
      eventEndpoints: ["tcp://10.0.0.5:6000", "tcp://10.0.0.5:6001"],
      replayEndpoints: ["tcp://10.0.0.5:7000", "tcp://10.0.0.5:7001"],
      hashSeed: 0,
      curveServerKey: "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
    });
  });

  test("win over the container's port", () => {
    const traits = { containers: [[{ name: "http", containerPort: 80 }]], annotations: { "warmpath.io/port": "81" } };
    expect(registrationOf(traits).name).toBe("10.0.0.5:81");
  });

  test("leave an xLLM engine to the rule of offsets", () => {
    expect(annotated({ engine: "xllm" })).toMatchObject({ eventEndpoints: null, replayEndpoints: null });
  });

  test("can place the endpoints of an xLLM engine", () => {
    const { eventEndpoints, replayEndpoints } = annotated({ engine: "xllm", "event-port": "1", "replay-port": "2" });
    expect([eventEndpoints, replayEndpoints]).toEqual([["tcp://10.0.0.5:1"], ["tcp://10.0.0.5:2"]]);
  });

  test("have an empty topic when it is written down", () => {
    expect(annotated({ topic: "" }).topic).toBe("");
  });

  test("of others are left alone", () => {
    expect(reasonOf({ "prometheus.io/port": "metrics", "warmpath.iox/port": "no" })).toBeNull();
  });

  test.each([
    ["port", "0", "an integer from 1 to 65535"],
    ["port", "65536", "an integer from 1 to 65535"],
    ["port", "http", "an integer from 1 to 65535"],
    ["port", "8e3", "an integer from 1 to 65535"],
    ["port", "", "an integer from 1 to 65535"],
    ["role", "prefill", "one of DEFAULT, PREFILL, DECODE, MIX"],
    ["engine", "vlm", "one of xllm, vllm, sglang"],
    ["dp-size", "0", "an integer from 1 to 4096"],
    ["block-size", "-16", "an integer from 1 to 4096"],
    ["hash-seed", "4294967296", "an integer from 0 to 4294967295"],
    ["curve-server-key", "", "a public CURVE key of 40 characters of Z85"],
  ])("are refused when %s is %p", (name, value, needed) => {
    const found = `annotation warmpath.io/${name} is ${JSON.stringify(value)}, ${needed} is needed`;
    expect(reasonOf({ [`warmpath.io/${name}`]: value })).toBe(`Cannot register pod "llm/a": ${found}`);
  });

  test("are refused when their name is misspelt", () => {
    expect(reasonOf({ "warmpath.io/blocksize": "16" })).toContain(
      "annotation warmpath.io/blocksize is not known, one of port, role",
    );
  });

  test("are refused when a rank's port would be beyond the last", () => {
    const reason = reasonOf({ "warmpath.io/dp-size": "3", "warmpath.io/replay-port": "65534" });
    expect(reason).toContain("replay-port 65534 gives rank 2 port 65536, one up to 65535 is needed");
  });

  test("are all named when several are wrong", () => {
    const reason = reasonOf({ "warmpath.io/role": "P", "warmpath.io/port": "x" });
    expect([reason?.includes("warmpath.io/role"), reason?.includes("warmpath.io/port")]).toEqual([true, true]);
  });
});

describe("A pod is away", () => {
  test.each<[string, PodTraits]>([
    ["pending", { phase: "Pending" }],
    ["done", { phase: "Succeeded" }],
    ["unready", { isReady: false }],
    ["being deleted", { isDeleted: true }],
    ["without address", { podIP: "" }],
  ])("while it is %s, whatever its annotations say", (_state, traits) => {
    expect(readPod(podWith({ ...traits, annotations: { "warmpath.io/port": "x" } })).presence).toEqual({ kind: "away" });
  });

  test("before it has a status", () => {
    const { metadata, spec } = podWith();
    expect(readPod({ metadata, spec }).presence).toEqual({ kind: "away" });
  });
});

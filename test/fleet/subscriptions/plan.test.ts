import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalEndpoint, type StreamDescription } from "#domain";
import type { Instance } from "../../../src/fleet/instance.ts";
import { SubscriptionPlanner } from "../../../src/fleet/subscriptions/plan.ts";
import { RULES } from "../../support/subscription-rules.ts";
import { type InstanceFields, instance, register, streamOf } from "./registered.ts";

const SEED = Number(process.env.WARMPATH_TEST_SEED ?? Date.now() & 0x7fffffff);
console.info(`Seed ${SEED}; again: WARMPATH_TEST_SEED=${SEED} bun test test/fleet/subscriptions/plan.test.ts`);

function plan(instances: readonly Instance[], rules: Partial<typeof RULES> = {}) {
  const { wanted, excluded, overlaps } = new SubscriptionPlanner({ ...RULES, ...rules }).plan(instances);
  return {
    wanted: Object.fromEntries(wanted),
    reasons: Object.fromEntries(Array.from(excluded, ([name, { reason }]) => [name, reason])),
    overlaps,
  };
}

describe("SubscriptionPlanner", () => {
  const SUBSCRIBED: [what: string, fields: InstanceFields][] = [
    ["DEFAULT", {}],
    ["PREFILL", { role: "PREFILL", currentRole: "PREFILL" }],
    ["MIX that works as PREFILL", { role: "MIX", currentRole: "PREFILL" }],
    ["LEASE_LOST", { state: "LEASE_LOST" }],
  ];
  test.each(SUBSCRIBED)("SubscriptionPlanner wants the streams of an instance that is %s", (_what, fields) => {
    const found = plan([instance("a:1", { ...fields, dpSize: 2 })]);
    expect(found).toEqual({ wanted: { "a:1": [streamOf("a:1"), streamOf("a:1", { dpRank: 1 })] }, reasons: {}, overlaps: [] });
  });

  const DECODE_REASON = "it works as DECODE, whose blocks no other request can reuse";
  const NOT_SUBSCRIBED: [reason: string, fields: InstanceFields][] = [
    [DECODE_REASON, { role: "DECODE", currentRole: "DECODE" }],
    [DECODE_REASON, { role: "MIX", currentRole: "DECODE" }],
    ["it is SUSPECT", { state: "SUSPECT" }],
    ['the KV events of backend "trt" are not known', { backend: "trt" }],
    ["event port 75000 of rank 0 is beyond 65535", { address: "a:65000" }],
  ];
  test.each(NOT_SUBSCRIBED)("SubscriptionPlanner wants nothing of an instance: %s", (reason, fields) => {
    expect(plan([instance("a:1", fields)])).toEqual({ wanted: {}, reasons: { "a:1": reason }, overlaps: [] });
  });

  test("SubscriptionPlanner puts static streams first, and believes them before the registration of their name", () => {
    const listed = streamOf("b:2", { endpoint: "tcp://x:1", replayEndpoint: "tcp://x:2", incarnation: "" });
    const found = plan([instance("a:1"), instance("b:2")], { staticStreams: [listed], maxStreams: 2 });
    expect(Object.entries(found.wanted)).toEqual([
      ["b:2", [listed]],
      ["a:1", [streamOf("a:1")]],
    ]);
    expect(found.reasons).toEqual({ "b:2": "the KV events file lists streams under its name" });
  });

  test("SubscriptionPlanner skips whole instances where the room is short, and goes on in name order", () => {
    const instances = [instance("a:100", { dpSize: 3 }), instance("b:100", { dpSize: 2 }), instance("c:100"), instance("d:100")];
    const staticStreams = [streamOf("s:1")];
    const found = plan(instances, { staticStreams, maxStreams: 5 });
    expect(Object.keys(found.wanted)).toEqual(["s:1", "a:100", "c:100"]);
    expect(found.reasons).toEqual({
      "b:100": "2 streams needed, 1 of max_streams 5 left",
      "d:100": "1 stream needed, 0 of max_streams 5 left",
    });
  });

  test("SubscriptionPlanner excludes both instances that claim an endpoint, however they spell it", () => {
    const found = plan([
      instance("a:100", { dpSize: 2 }),
      instance("b:9", { eventEndpoints: ["tcp://A:10101"], replayEndpoints: ["tcp://b:1"] }),
      instance("c:100"),
    ]);
    expect(Object.keys(found.wanted)).toEqual(["c:100"]);
    expect(found.reasons).toEqual({
      "a:100": 'endpoint "tcp://a:10101" is also that of instance "b:9"',
      "b:9": 'endpoint "tcp://a:10101" is also that of instance "a:100"',
    });
    expect(found.overlaps).toEqual([{ endpoint: "tcp://a:10101", first: 'instance "a:100"', second: 'instance "b:9"' }]);
  });

  test("SubscriptionPlanner excludes all of three instances that claim an endpoint", () => {
    const own = { eventEndpoints: ["tcp://x:1"] };
    const found = plan([instance("a:1", own), instance("b:1", own), instance("c:1", own)]);
    expect(found.wanted).toEqual({});
    expect(found.reasons["c:1"]).toBe('endpoint "tcp://x:1" is also that of instance "a:1"');
    expect(found.overlaps).toHaveLength(2);
  });

  test("SubscriptionPlanner takes one instance's event endpoint for another's replay endpoint as an overlap", () => {
    const found = plan([instance("a:1", { replayEndpoints: ["tcp://b:10001"] }), instance("b:1")]);
    expect(Object.keys(found.reasons)).toEqual(["a:1", "b:1"]);
  });

  test("SubscriptionPlanner excludes an instance that claims a static stream's endpoint, and keeps the stream", () => {
    const listed = streamOf("s", { endpoint: "tcp://A:10001", replayEndpoint: "tcp://s:2" });
    const found = plan([instance("a:1")], { staticStreams: [listed] });
    expect(found.wanted).toEqual({ s: [listed] });
    expect(found.reasons).toEqual({ "a:1": 'endpoint "tcp://a:10001" is also that of static stream instance "s" rank 0' });
  });

  test("SubscriptionPlanner does not hold an endpoint against an instance whose other claimant is not to be subscribed to", () => {
    const own = { eventEndpoints: ["tcp://x:1"] };
    const found = plan([instance("a:1", own), instance("b:1", { ...own, state: "SUSPECT" })]);
    expect(found.wanted).toEqual({ "a:1": [streamOf("a:1", { endpoint: "tcp://x:1" })] });
  });

  test("SubscriptionPlanner gives the very same streams again for the same registrations", () => {
    const planner = new SubscriptionPlanner(RULES);
    const one = instance("a:1");
    const first = planner.plan([one]).wanted.get("a:1");
    expect(planner.plan([{ ...one, state: "LEASE_LOST" }]).wanted.get("a:1")).toBe(first as StreamDescription[]);
  });

  test("SubscriptionPlanner holds its rules for every fleet", () => {
    const fields = fc.record({
      currentRole: fc.constantFrom("DEFAULT" as const, "PREFILL" as const, "DECODE" as const),
      state: fc.constantFrom("ACTIVE" as const, "LEASE_LOST" as const, "SUSPECT" as const),
      address: fc.tuple(fc.constantFrom("h", "H", "10.0.0.5"), fc.integer({ min: 1, max: 20 })).map(([h, p]) => `${h}:${p}`),
      dpSize: fc.integer({ min: 1, max: 4 }),
    });
    const fleet = fc.array(fields, { maxLength: 12 });
    const property = fc.property(fleet, fc.integer({ min: 1, max: 8 }), fc.boolean(), (all, maxStreams, isListed) => {
      const instances = all.map((each, n) => instance(`i-${String(n).padStart(2, "0")}`, each));
      const staticStreams = isListed ? [streamOf("i-00", { endpoint: "tcp://h:10005", replayEndpoint: null })] : [];
      const { wanted, excluded } = new SubscriptionPlanner({ ...RULES, maxStreams, staticStreams }).plan(instances);
      const streams = [...wanted.values()].flat();
      expect(streams.length).toBeLessThanOrEqual(maxStreams);
      const endpoints = streams
        .flatMap(({ endpoint, replayEndpoint }) => [endpoint, replayEndpoint])
        .filter((one) => one !== null);
      expect(new Set(endpoints.map(canonicalEndpoint)).size).toBe(endpoints.length);
      for (const { registration, state, currentRole } of instances) {
        const isStatic = isListed && registration.name === "i-00";
        expect(excluded.has(registration.name)).toBe(isStatic || !wanted.has(registration.name));
        if (excluded.has(registration.name)) continue;
        expect(wanted.get(registration.name)).toHaveLength(registration.dpSize);
        expect([state, currentRole]).not.toContain("SUSPECT");
        expect([state, currentRole]).not.toContain("DECODE");
      }
    });
    fc.assert(property, { seed: SEED, numRuns: 500 });
  });
});

describe("SubscriptionPlanner conflicts", () => {
  const listed = streamOf("s", { endpoint: "tcp://s:1", replayEndpoint: "tcp://s:2" });
  const planner = new SubscriptionPlanner({ ...RULES, staticStreams: [listed] });
  const instances = [instance("a:1", { dpSize: 2 }), instance("b:1", { state: "SUSPECT" }), instance("c:1", { backend: "trt" })];

  function conflict(name: string, eventEndpoint: string) {
    return planner.conflictOf(register(name, { address: "new:1", eventEndpoints: [eventEndpoint] }), instances);
  }

  test.each([
    ["an instance", "tcp://A:10002", "a:1"],
    ["an instance's replay endpoint", "tcp://a:30001", "a:1"],
    ["an instance that is SUSPECT", "tcp://b:10001", "b:1"],
    ["a static stream", "tcp://s:2", "s"],
  ])("SubscriptionPlanner names who has the endpoint: %s", (_what, endpoint, instanceName) => {
    expect(conflict("new:1", endpoint)).toEqual({ endpoint: canonicalEndpoint(endpoint) ?? "", instanceName });
    expect(conflict(instanceName, endpoint)).toBeNull();
  });

  test("SubscriptionPlanner finds no conflict with what is free, never connected to, or no endpoint", () => {
    expect(conflict("new:1", "tcp://a:10003")).toBeNull();
    expect(conflict("new:1", "tcp://c:10001")).toBeNull();
    expect(conflict("new:1", "nothing")).toBeNull();
  });
});

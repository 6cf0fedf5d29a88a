import { describe, expect, test } from "bun:test";
import { LOAD_BALANCE_POLICIES, type Namespace, type StreamMatch } from "#domain";
import type { Instance } from "#fleet";
import { type CurrentLoad, type Decision, Router, type RouterOptions } from "#routing";
import { FakeClock } from "../support/fake-clock.ts";
import { instance, load, match, NO_REPORT, placed, prompt, route } from "./scene.ts";

/** A router over instances that are idle unless `loads` says otherwise, and a directory that answers `matches`. */
function scene(options: Partial<RouterOptions> = {}) {
  const clock = new FakeClock();
  const asked: { tokenCount: number; namespace: Namespace | null }[] = [];
  const directory = {
    tokens: prompt(4096),
    matches: [] as StreamMatch[] | "busy",
    match(tokenCount: number, _names: null, namespace: Namespace | null) {
      asked.push({ tokenCount, namespace });
      return directory.matches;
    },
  };
  const fleet = {
    members: [] as Instance[],
    loads: new Map<string, CurrentLoad>(),
    moved: [] as [string, string][],
    instances: () => fleet.members,
    loadOf: ({ registration }: Instance) => fleet.loads.get(registration.name) ?? load(0),
    setCurrentRole(name: string, role: "PREFILL" | "DECODE") {
      fleet.moved.push([name, role]);
      fleet.members = fleet.members.map((member) =>
        member.registration.name === name ? { ...member, currentRole: role } : member,
      );
    },
  };
  const router = new Router({
    policy: "CAR",
    prefillLambda: 0.5,
    hostHitWeight: 0.5,
    diskHitWeight: 0.25,
    trackInFlight: false,
    predictionWindowMs: 0,
    targetTtftMs: 1000,
    targetTpotMs: 50,
    directory,
    fleet,
    clock,
    ...options,
  });
  let requests = 0;
  const decide = (requestId = `request-${requests++}`, tokenCount = 1024): Decision => {
    const decision = router.route({ requestId, tokenCount, namespace: null });
    if (decision === "busy") throw new Error("The index is not busy");
    return decision;
  };
  return { asked, clock, decide, directory, fleet, router };
}

/** Prefills 1,024 tokens in 100 ms each, and takes 10 ms a token for each request of a batch. */
const PROFILE = { ttftSamples: [[1024, 100]], tpotSamples: [[100, 1, 10]] } as const;

describe("Router", () => {
  test("Router asks the directory once a decision, for the prompt under its namespace", () => {
    const { asked, directory, fleet, router } = scene();
    fleet.members = [instance("a"), instance("b")];
    directory.matches = [match("b", [8, 0, 0])];
    const namespace = { root: Uint8Array.of(1), extraKeys: null };
    const decision = router.route({ requestId: "r", tokenCount: 1024, namespace });
    expect(decision === "busy" ? decision : route(decision)).toEqual(["b", null]);
    expect(asked).toEqual([{ tokenCount: 1024, namespace }]);
  });

  test.each(["RR", "SLO_AWARE"] as const)("Router does not ask the directory under %s", (policy) => {
    const { asked, decide, directory, fleet } = scene({ policy });
    directory.matches = "busy";
    fleet.members = [instance("a")];
    expect(placed(decide()).policy).toBe("RR");
    expect(asked).toEqual([]);
  });

  test("Router decides nothing while the index is busy, and remembers nothing", () => {
    const { decide, directory, fleet, router } = scene({ trackInFlight: true });
    fleet.members = [instance("a"), instance("b")];
    directory.matches = "busy";
    expect(router.route({ requestId: "r", tokenCount: 1, namespace: null })).toBe("busy");
    directory.matches = [];
    expect(placed(decide()).candidates.map(({ inFlightRequests }) => inFlightRequests)).toEqual([0, 0]);
  });

  test("Router previews a decision without performing, observing or remembering it", () => {
    const observed: unknown[] = [];
    const { decide, fleet, router } = scene({
      policy: "SLO_AWARE",
      targetTpotMs: 1,
      onDecision: (decision) => observed.push(decision),
    });
    fleet.members = [instance("d", "DECODE", PROFILE), instance("m", "MIX", PROFILE), instance("n", "MIX", PROFILE)];
    const preview = () => router.preview({ requestId: "r", tokenCount: 1024, namespace: null });
    const [first, second] = [preview(), preview()];
    expect(second).toEqual(first);
    expect([fleet.moved, observed, router.books.prefillRequests]).toEqual([[], [], 0]);
    expect(decide("r")).toEqual(first as Decision);
    expect(observed).toHaveLength(1);
  });

  test("Router previews nothing while the index is busy", () => {
    const { directory, fleet, router } = scene();
    fleet.members = [instance("a")];
    directory.matches = "busy";
    expect(router.preview({ requestId: "r", tokenCount: 1, namespace: null })).toBe("busy");
  });

  test("Router counts requests in flight only when it is asked to", () => {
    for (const trackInFlight of [false, true]) {
      const { decide, fleet } = scene({ trackInFlight });
      fleet.members = [instance("a")];
      decide();
      expect(placed(decide()).prefill.inFlightRequests).toBe(Number(trackInFlight));
    }
  });

  test("Router counts a request that comes again once, also while it is decided anew", () => {
    const { decide, fleet } = scene({ trackInFlight: true });
    fleet.members = [instance("a"), instance("d", "DECODE")];
    for (let attempt = 0; attempt < 3; attempt++) {
      const { prefill, decode } = placed(decide("r"));
      expect([prefill.inFlightRequests, decode?.inFlightRequests]).toEqual([0, 0]);
    }
    expect(placed(decide("other")).prefill.inFlightRequests).toBe(1);
  });

  test("Router keeps the work of a request that comes again on the books once", () => {
    const { decide, fleet } = scene({ policy: "SLO_AWARE" });
    fleet.members = [instance("d", "DECODE", PROFILE), instance("p", "PREFILL", PROFILE)];
    for (let attempt = 0; attempt < 3; attempt++) expect(placed(decide("r")).prefill.score).toBe(0);
    expect(placed(decide("other")).prefill.score).toBeCloseTo(100, 6);
  });

  test("Router ends what is in flight by the steps that it is told of", () => {
    const { decide, fleet, router } = scene({ trackInFlight: true });
    fleet.members = [instance("a"), instance("d", "DECODE")];
    decide("r");
    expect(router.step("r", "finish-prefill", 1)).toBe(true);
    const { prefill, decode } = placed(decide("s"));
    expect([prefill.inFlightRequests, decode?.inFlightRequests]).toEqual([0, 1]);
  });

  test("Router says of a request that is not on the books of SLO_AWARE, and of none elsewhere", () => {
    for (const policy of LOAD_BALANCE_POLICIES) {
      const { decide, fleet, router } = scene({ policy });
      fleet.members = [instance("a")];
      decide("r");
      expect([router.step("r", "finish-decode", 1), router.step("r", "cancel", 1)]).toEqual([true, policy !== "SLO_AWARE"]);
    }
  });

  test("Router books all tokens of a step at once", () => {
    const { decide, fleet, router } = scene({ policy: "SLO_AWARE" });
    const tpotSamples = [[101, 1, 10], [201, 1, 20], [101, 2, 20]] as const; // biome-ignore format: a table
    fleet.members = [instance("d", "DECODE", { ...PROFILE, tpotSamples }), instance("p", "PREFILL", PROFILE)];
    decide("r", 100);
    const before = placed(decide("probe", 100)).decode?.score ?? Number.NaN;
    router.step("probe", "cancel", 1);
    router.step("r", "generate", 500);
    expect((placed(decide("probe", 100)).decode?.score ?? 0) - before).toBeCloseTo(50, 6);
  });

  test("Router performs a flip with the decision that asks for it", () => {
    const { decide, fleet } = scene({ policy: "SLO_AWARE", targetTpotMs: 1 });
    fleet.members = [instance("d", "DECODE", PROFILE), instance("m", "MIX", PROFILE), instance("n", "MIX", PROFILE)];
    const { flip, prefill } = placed(decide());
    expect(flip).toEqual({ name: "m", to: "DECODE" });
    expect(prefill.instance.currentRole).toBe("PREFILL");
    expect(fleet.moved).toEqual([["m", "DECODE"]]);
    expect(placed(decide()).candidates.map(({ side }) => side)).toEqual(["decode", "decode", "prefill"]);
  });

  test("Router performs a flip that follows from a step", () => {
    const { decide, fleet, router } = scene({ policy: "SLO_AWARE" });
    const mix = instance("a", "MIX", { ...PROFILE, currentRole: "DECODE" });
    fleet.members = [mix, instance("d", "DECODE", PROFILE), instance("p", "PREFILL", PROFILE)];
    expect(placed(decide("r")).decode?.instance).toBe(mix);
    router.step("r", "finish-decode", 1);
    expect(fleet.moved).toEqual([["a", "PREFILL"]]);
  });

  test("Router performs with the tick the flips of instances that others left idle", () => {
    const { decide, fleet, router } = scene({ policy: "SLO_AWARE" });
    fleet.members = [
      instance("a", "MIX", { ...PROFILE, currentRole: "DECODE" }),
      instance("d", "DECODE", PROFILE),
      instance("p", "PREFILL", PROFILE),
    ];
    decide("r");
    router.deregistered("p");
    expect(fleet.moved).toEqual([]);
    router.tick();
    expect(fleet.moved).toEqual([["a", "PREFILL"]]);
  });

  test("Router begins with nothing for a process that takes the place of another", () => {
    const { decide, fleet, router } = scene({ trackInFlight: true });
    fleet.members = [instance("a")];
    decide();
    router.deregistered("a");
    expect(placed(decide()).prefill.inFlightRequests).toBe(0);
  });

  test("Router says why it cannot serve, in the words of the refusal", () => {
    for (const policy of LOAD_BALANCE_POLICIES) {
      const { decide, fleet, router } = scene({ policy });
      const stages = [
        [],
        [instance("a", "DEFAULT", { state: "SUSPECT" })],
        [instance("a"), instance("p", "PREFILL")],
        [instance("p", "PREFILL")],
        [instance("d", "DECODE")],
        [instance("d", "DECODE"), instance("p", "PREFILL")],
      ];
      for (const unknown of [false, true]) {
        if (unknown) for (const name of ["a", "d", "p"]) fleet.loads.set(name, NO_REPORT);
        for (const members of stages) {
          fleet.members = members;
          const decision = decide();
          expect(router.notServing()).toEqual(decision.kind === "refused" ? [decision.reason] : null);
        }
      }
    }
  });

  test("Router tells who may not serve, by the policy in force", () => {
    const members = [instance("a"), instance("b", "DEFAULT", { state: "SUSPECT" }), instance("p", "PREFILL")];
    const suspect = ["b", { reason: "suspect" }] as const;
    const alone = ["p", { reason: "needs-decode" }] as const;
    for (const [policy, expected] of [
      ["RR", [suspect, alone]],
      ["SLO_AWARE", [suspect, alone]],
      ["CAR", [["a", { reason: "load-unknown", detail: "no report yet" }], suspect, alone]],
    ] as const) {
      const { fleet, router } = scene({ policy });
      fleet.members = members;
      fleet.loads.set("a", NO_REPORT);
      expect([...router.exclusions()]).toEqual(expected.map(([name, exclusion]) => [name, exclusion]));
    }
  });
});

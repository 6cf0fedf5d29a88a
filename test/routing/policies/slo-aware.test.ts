import { describe, expect, test } from "bun:test";
import type { Role, TpotSample, TtftSample } from "#domain";
import { type RouteRequest, SloAware } from "#routing";
import { SILENT_REQUEST_MS } from "../../../src/routing/slo/ledger.ts";
import { instance, placed, prompt, request, route } from "../scene.ts";

/** A millisecond a token. */
const TTFT: readonly TtftSample[] = [
  [0, 0],
  [1000, 1000],
];

/** Ten milliseconds a request, whatever their lengths. */
const TPOT: readonly TpotSample[] = [
  [1, 1, 10],
  [1, 2, 20],
];

function measured(name: string, role: Role, currentRole?: "PREFILL" | "DECODE") {
  return instance(name, role, { ttftSamples: TTFT, tpotSamples: TPOT, ...(currentRole && { currentRole }) });
}

function sloAware(targets = { targetTtftMs: 1000, targetTpotMs: 25 }): SloAware {
  return new SloAware(targets);
}

function ask(policy: SloAware, instances: RouteRequest["instances"], requestId: string, tokenCount = 100) {
  return policy.decide(request(instances, { requestId, tokens: prompt(tokenCount) }));
}

describe("SloAware", () => {
  const [p, q, d, e] = [measured("p", "PREFILL"), measured("q", "PREFILL"), measured("d", "DECODE"), measured("e", "DECODE")];

  test("SloAware leaves to RR what it cannot estimate", () => {
    for (const [instances, tokenCount] of [
      [[measured("a", "DEFAULT")], 100],
      [[p, d], 0],
    ] as const) {
      expect(placed(ask(sloAware(), instances, "r", tokenCount)).policy).toBe("RR");
    }
    expect(placed(ask(sloAware(), [p, d], "r")).policy).toBe("SLO_AWARE");
    expect(route(ask(sloAware(), [d], "r"))).toBe("no prefill candidate: no instance works on the prefill side");
    expect(route(ask(sloAware(), [p], "r"))).toStartWith("no prefill candidate: 1 in need of a decode instance");
  });

  test("SloAware prefills where the least is left to do and shows it as the score", () => {
    const policy = sloAware();
    const prefills = [300, 100, 100, 200].map((tokenCount, order) => {
      const { prefill } = placed(ask(policy, [d, e, p, q], `r${order}`, tokenCount));
      return [prefill.instance.registration.name, Math.round(prefill.score ?? Number.NaN)];
    });
    // p: 300; then q: 100, 200, 400.
    expect(prefills).toEqual([
      ["p", 0],
      ["q", 0],
      ["q", 100],
      ["q", 200],
    ]);
    policy.step("r0", "finish-prefill", [d, e, p, q], 1);
    expect(route(ask(policy, [d, e, p, q], "r4"))).toEqual(["p", "d"]);
  });

  test("SloAware gives prefill instances with equal estimates their turns", () => {
    const policy = sloAware();
    const unmeasured = [instance("p", "PREFILL"), instance("q", "PREFILL"), d];
    expect([0, 1, 2].map((order) => placed(ask(policy, unmeasured, `r${order}`)).prefill.instance.registration.name)).toEqual([
      "p",
      "q",
      "p",
    ]);
  });

  test("SloAware fills the first decode instance up to the target, then the next, then the least loaded", () => {
    const policy = sloAware();
    const decodes = [0, 1, 2, 3, 4].map((order) => {
      const { decode } = placed(ask(policy, [d, e, p], `r${order}`));
      return [decode?.instance.registration.name, Math.round(decode?.score ?? Number.NaN)];
    });
    expect(decodes).toEqual([
      ["d", 10],
      ["d", 20],
      ["e", 10],
      ["e", 20],
      ["d", 30],
    ]);
    policy.step("r2", "finish-decode", [d, e, p], 1);
    expect(placed(ask(policy, [d, e, p], "r5")).decode?.instance.registration.name).toBe("e");
  });

  test("SloAware counts the tokens that are being decoded", () => {
    // A tenth of a millisecond a token: 0 + 0·b + 0.1·L.
    const tokenwise = {
      tpotSamples: [
        [1, 1, 0],
        [1, 2, 0],
        [101, 1, 10],
      ] as const,
    };
    const fleet = [instance("d", "DECODE", tokenwise), instance("e", "DECODE", tokenwise), p];
    const policy = sloAware();
    expect(placed(ask(policy, fleet, "r0", 200)).decode?.score).toBeCloseTo(20, 9);
    for (let token = 0; token < 10; token++) policy.step("r0", "generate", fleet, token);
    expect(placed(ask(policy, fleet, "r1", 100)).decode?.instance.registration.name).toBe("e");
    expect(placed(ask(policy, fleet, "r2", 40)).decode?.score).toBeCloseTo(25, 9);
  });

  test("SloAware prefills on a decode instance that has time when prefill is late", () => {
    const policy = sloAware({ targetTtftMs: 1000, targetTpotMs: 50 });
    // p has 1,001 ms to do; d decodes one request, e none: target d (e = 20), min e (10 < 50·1/2).
    ask(policy, [d, e, p], "r0", 1001);
    const decision = placed(ask(policy, [d, e, p], "r1", 500));
    expect(route(decision)).toEqual(["e", "d"]);
    expect(decision.prefill.side).toBe("decode");
    // What it was given counts there: 500 ms, then 1,001 and more are no longer less than p's.
    expect(route(ask(policy, [d, e, p], "r2", 600))).toEqual(["e", "d"]);
    expect(route(ask(policy, [d, e, p], "r3", 100))).toEqual(["p", "d"]);
  });

  test("SloAware skips SUSPECT instances and needs no load reports", () => {
    const decision = sloAware().decide(
      request([instance("a", "PREFILL", { state: "SUSPECT" }), d, p], {
        loadOf: () => ({ kind: "unknown", reason: "no report yet" }),
      }),
    );
    expect(route(decision)).toEqual(["p", "d"]);
  });

  test("SloAware measures an instance anew when its registration is refreshed", () => {
    const policy = sloAware();
    ask(policy, [d, p], "r0", 500);
    const slower = instance("p", "PREFILL", { ttftSamples: [[1000, 5000]] });
    ask(policy, [d, slower], "r1", 1);
    expect(placed(ask(policy, [d, slower], "r2")).prefill.score).toBeCloseTo(5500, 6);
  });

  test("SloAware counts what it forgets and what it does not know", () => {
    const policy = sloAware();
    ask(policy, [p, d], "r0");
    policy.step("never heard of", "generate", [p, d], 0);
    policy.tick([p, d], SILENT_REQUEST_MS);
    expect(policy.counts).toEqual({ forgottenRequests: 1, unknownSteps: 1 });
    policy.reset();
    expect(policy.counts).toEqual({ forgottenRequests: 0, unknownSteps: 0 });
  });
});

describe("SloAware, flips", () => {
  const prefilling = [measured("m", "MIX"), measured("n", "MIX")];
  const decoding = measured("d", "DECODE");

  test("SloAware moves the prefill instance chosen to decode when nobody decodes in time", () => {
    const policy = sloAware();
    const flips = [0, 1, 2].map((order) => placed(ask(policy, [decoding, ...prefilling], `r${order}`)).flip);
    // d is in time for two requests; the third prefills on m, in its turn.
    expect(flips).toEqual([null, null, { name: "m", to: "DECODE" }]);
    const moved = [decoding, measured("m", "MIX", "DECODE"), prefilling[1]];
    expect(route(ask(policy, moved, "r3"))).toEqual(["n", "m"]);
  });

  test("SloAware moves neither the last prefill instance nor one that is no MIX", () => {
    for (const fleet of [
      [decoding, prefilling[0]],
      [decoding, measured("p", "PREFILL"), measured("q", "DEFAULT")],
    ]) {
      const policy = sloAware();
      const flips = [0, 1, 2, 3].map((order) => placed(ask(policy, fleet, `r${order}`)).flip);
      expect(flips).toEqual([null, null, null, null]);
    }
  });

  const flipped = measured("m", "MIX", "DECODE");
  /** Two requests on d, one on m. */
  function busy(fleet: RouteRequest["instances"]): SloAware {
    const policy = sloAware();
    for (const id of ["r0", "r1", "r2"]) ask(policy, fleet, id);
    return policy;
  }

  test.each(["finish-decode", "cancel"] as const)(
    "SloAware moves a MIX instance back to prefill with the %s of its last request",
    (step) => {
      const fleet = [decoding, flipped, measured("p", "PREFILL")];
      const policy = busy(fleet);
      expect(policy.step("r2", "finish-prefill", fleet, 1)).toBeNull();
      expect(policy.step("r2", step, fleet, 2)).toEqual({ name: "m", to: "PREFILL" });
      // d has requests left, and is no MIX.
      expect(policy.step("r1", step, fleet, 3)).toBeNull();
      expect(policy.step("r0", step, fleet, 4)).toBeNull();
    },
  );

  test("SloAware leaves the last decode instance where it is", () => {
    const policy = sloAware();
    const others = [instance("d", "DECODE", { state: "SUSPECT" }), flipped, measured("p", "PREFILL")];
    ask(policy, others, "r");
    expect(policy.step("r", "finish-decode", others, 1)).toBeNull();
  });

  test("SloAware moves an instance back whose last requests went silent, with the next tick", () => {
    const fleet = [decoding, flipped, measured("p", "PREFILL")];
    const policy = busy(fleet);
    expect(policy.tick(fleet, SILENT_REQUEST_MS - 1)).toEqual([]);
    expect(policy.tick(fleet, SILENT_REQUEST_MS)).toEqual([{ name: "m", to: "PREFILL" }]);
    expect(policy.tick(fleet, SILENT_REQUEST_MS + 1)).toEqual([]);
  });

  test("SloAware keeps one decode instance when several become idle in one tick", () => {
    const fleet = [measured("k", "MIX", "DECODE"), flipped, measured("p", "PREFILL")];
    const policy = busy(fleet);
    expect(policy.tick(fleet, SILENT_REQUEST_MS)).toHaveLength(1);
  });

  test("SloAware ends the requests of an instance that is gone, and moves who has nothing left by that", () => {
    const fleet = [decoding, flipped, measured("p", "PREFILL")];
    const policy = busy(fleet);
    policy.forgetInstance("p");
    const left = fleet.slice(0, 2);
    expect(policy.tick(left, 1)).toEqual([{ name: "m", to: "PREFILL" }]);
    expect(policy.step("r0", "finish-decode", left, 2)).toBeNull();
    expect(policy.counts.unknownSteps).toBe(1);
  });

  test("SloAware does not move an instance that has new requests by the time of the tick", () => {
    const fleet = [decoding, flipped, measured("p", "PREFILL"), measured("q", "PREFILL")];
    const policy = busy(fleet);
    policy.forgetInstance("p");
    for (const id of ["s0", "s1", "s2"]) ask(policy, fleet, id);
    expect(policy.tick(fleet, 1)).toEqual([]);
  });
});

import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { CacheAware, type CacheAwareOptions } from "#routing";
import { instance, load, match, NO_REPORT, placed, prompt, request, route } from "../scene.ts";

function cacheAware(options: Partial<CacheAwareOptions> = {}): CacheAware {
  const weights = { prefillLambda: 0.5, hostHitWeight: 0.5, diskHitWeight: 0.25 };
  return new CacheAware({ ...weights, trackInFlight: true, predictionWindowMs: 0, ...options });
}

/** `{ a: 0.5 }`: the score of each candidate. */
function scores(policy: CacheAware, ...parameters: Parameters<typeof request>) {
  const { candidates } = policy.decide(request(...parameters));
  return Object.fromEntries(candidates.map((candidate) => [candidate.instance.registration.name, candidate.score]));
}

describe("CacheAware, prefill side", () => {
  const fleet = [instance("a"), instance("b"), instance("c")];
  const loads = { a: load(4), b: load(1), c: load(0) };
  // Of 1,024 tokens: a holds 768 on the device; b 256 and 512 on the host; c 512 on disk.
  const matches = [match("a", [6, 0, 0]), match("b", [2, 4, 0]), match("c", [0, 0, 4])];

  test.each([
    // a: 0.5·0.25 + 0.5·1; b: 0.5·0.5 + 0.5·0.25; c: 0.5·0.875 + 0.
    ["half and half", {}, { a: 0.625, b: 0.375, c: 0.4375 }, "b"],
    ["queues only at λ 0", { prefillLambda: 0 }, { a: 1, b: 0.25, c: 0 }, "c"],
    ["hits only at λ 1", { prefillLambda: 1 }, { a: 0.25, b: 0.5, c: 0.875 }, "a"],
    ["the device only at weights 0", { prefillLambda: 1, hostHitWeight: 0, diskHitWeight: 0 }, { a: 0.25, b: 0.75, c: 1 }, "a"],
    [
      "all tiers alike at weights 1",
      { prefillLambda: 0.5, hostHitWeight: 1, diskHitWeight: 1 },
      { a: 0.625, b: 0.25, c: 0.25 },
      "b",
    ],
  ])("CacheAware scores %s", (_, options, expected, winner) => {
    expect(scores(cacheAware(options), fleet, { loads, matches })).toEqual(expected);
    expect(route(cacheAware(options).decide(request(fleet, { loads, matches })))).toEqual([winner, null]);
  });

  test("CacheAware gives the numbers behind each score", () => {
    const { prefill, candidates } = placed(cacheAware().decide(request(fleet, { loads, matches })));
    expect(prefill).toBe(candidates[1]);
    expect(prefill).toMatchObject({
      excluded: null,
      hits: { deviceTokens: 256, hostOnlyTokens: 512, diskOnlyTokens: 0, predictedTokens: 0, uncredited: null },
      kvHitRatio: 0.5,
      queueCost: 0.25,
      inFlightRequests: 0,
      score: 0.375,
    });
  });

  test("CacheAware counts only whole blocks of the prompt", () => {
    // 200 tokens, of which one block of 128 is held: 1 − 128/200 = 0.36.
    expect(
      scores(cacheAware({ prefillLambda: 1 }), [instance("a")], { tokens: prompt(200), matches: [match("a", [1, 0, 0])] }).a,
    ).toBeCloseTo(0.36, 12);
  });

  test("CacheAware gives no hits to anybody without a directory", () => {
    expect(scores(cacheAware(), fleet, { loads })).toEqual({ a: 1, b: 0.625, c: 0.5 });
  });

  test("CacheAware gives no hits of an empty prompt", () => {
    expect(scores(cacheAware(), fleet, { loads, tokens: prompt(0) })).toEqual({ a: 1, b: 0.625, c: 0.5 });
  });

  test("CacheAware lets an instance without credit win by its queue", () => {
    const unsynced = match("b", [0, 0, 0], { unsynchronized: unsynchronized("disconnected") });
    const decision = cacheAware().decide(
      request([instance("a"), instance("b")], { loads: { a: load(9) }, matches: [match("a", [6, 0, 0]), unsynced] }),
    );
    // a: 0.5·0.25 + 0.5·1 = 0.625; b: 0.5·1 + 0 = 0.5.
    expect(route(decision)).toEqual(["b", null]);
    expect(placed(decision).prefill.hits?.uncredited).toEqual({ reason: "unsynchronized", dpRank: 0 });
  });

  test("CacheAware takes the least hits of an instance's ranks", () => {
    const twoRanks = [instance("a", "DEFAULT", { dpSize: 2 })];
    const ranks = [match("a", [8, 0, 0]), match("a", [2, 0, 0], { dpRank: 1 })];
    expect(scores(cacheAware({ prefillLambda: 1 }), twoRanks, { matches: ranks })).toEqual({ a: 0.75 });
    expect(scores(cacheAware({ prefillLambda: 1 }), twoRanks, { matches: [ranks[0]] })).toEqual({ a: 1 });
  });

  test("CacheAware gives a new process nothing of what the old one held", () => {
    const replaced = [instance("a", "DEFAULT", { incarnation: "a-2" })];
    expect(scores(cacheAware({ prefillLambda: 1 }), replaced, { matches: [match("a", [8, 0, 0])] })).toEqual({ a: 1 });
  });

  test("CacheAware ignores matches of instances that are not there", () => {
    expect(scores(cacheAware(), [instance("a")], { matches: [match("z", [8, 0, 0])] })).toEqual({ a: 0.5 });
  });

  test("CacheAware excludes instances that are SUSPECT or whose load is unknown, and measures queues without them", () => {
    const policy = cacheAware();
    const some = [instance("a"), instance("b", "DEFAULT", { state: "SUSPECT" }), instance("c"), instance("d")];
    const decision = placed(policy.decide(request(some, { loads: { a: load(2), b: load(100), c: NO_REPORT, d: load(1) } })));
    expect(decision.candidates.map(({ excluded, queueCost, score }) => [excluded?.reason ?? null, queueCost, score])).toEqual([
      [null, 1, 1],
      ["suspect", 0, null],
      ["load-unknown", 0, null],
      [null, 0.5, 0.75],
    ]);
    expect(route(decision)).toEqual(["d", null]);
  });

  test("CacheAware chooses the only candidate however bad it is", () => {
    expect(route(cacheAware().decide(request([instance("a")], { loads: { a: load(1000, 1) } })))).toEqual(["a", null]);
  });

  test("CacheAware refuses without any candidate and takes nothing into its books", () => {
    const policy = cacheAware();
    expect(route(policy.decide(request([instance("a")], { loads: { a: NO_REPORT } })))).toBe(
      "no prefill candidate: 1 without a known load",
    );
    expect(route(policy.decide(request([])))).toBe("no prefill candidate: no instance is registered");
    expect(placed(policy.decide(request([instance("a")]))).prefill.inFlightRequests).toBe(0);
  });
});

describe("CacheAware, decode side", () => {
  const [p, d, e] = [instance("p", "PREFILL"), instance("d", "DECODE"), instance("e", "MIX", { currentRole: "DECODE" })];

  test("CacheAware adds the cache in use and the queue, each side by itself", () => {
    const loads = { p: load(50, 0.9), d: load(4, 0.1), e: load(1, 0.5) };
    // d: 0.1 + 4/4; e: 0.5 + 1/4; p is the only one of its side: λ·1 + (1 − λ)·1.
    expect(scores(cacheAware(), [d, e, p], { loads })).toEqual({ d: 1.1, e: 0.75, p: 1 });
    expect(route(cacheAware().decide(request([d, e, p], { loads })))).toEqual(["p", "e"]);
  });

  test("CacheAware gives the decode side no credit for hits", () => {
    const decision = placed(
      cacheAware().decide(request([d, p], { matches: [match("d", [8, 0, 0])], loads: { d: load(0, 0.5) } })),
    );
    expect(decision.decode).toMatchObject({ hits: null, kvHitRatio: 0, score: 0.5 });
  });

  test("CacheAware does not count the cache in use on the prefill side", () => {
    expect(scores(cacheAware(), [instance("a"), instance("b")], { loads: { a: load(0, 1), b: load(0, 0) } })).toEqual({
      a: 0.5,
      b: 0.5,
    });
  });

  test("CacheAware pairs a DEFAULT instance with a decode instance when there is one", () => {
    expect(route(cacheAware().decide(request([instance("a"), d])))).toEqual(["a", "d"]);
  });

  test("CacheAware lets only a DEFAULT instance serve alone, and measures queues among those", () => {
    const loads = { b: load(1), c: load(4), p: load(100), d: NO_REPORT };
    const decision = placed(cacheAware().decide(request([instance("b"), instance("c"), d, p], { loads })));
    expect(route(decision)).toEqual(["b", null]);
    expect(decision.candidates.map(({ queueCost }) => queueCost)).toEqual([0.25, 1, 0, 0]);
    expect(decision.candidates.map(({ excluded }) => excluded?.reason ?? null)).toEqual([
      null,
      null,
      "load-unknown",
      "needs-decode",
    ]);
  });

  test("CacheAware follows a MIX instance from side to side", () => {
    const mix = (currentRole: "PREFILL" | "DECODE") => instance("m", "MIX", { currentRole });
    expect(route(cacheAware().decide(request([d, mix("PREFILL")])))).toEqual(["m", "d"]);
    expect(route(cacheAware().decide(request([mix("DECODE"), p])))).toEqual(["p", "m"]);
    expect(route(cacheAware().decide(request([d, mix("DECODE")])))).toBe(
      "no prefill candidate: no instance works on the prefill side",
    );
  });
});

describe("CacheAware, turns", () => {
  const fleet = [instance("a"), instance("b"), instance("c"), instance("d", "DECODE"), instance("e", "DECODE")];

  test("CacheAware gives equal scores their turns, each side by itself", () => {
    const policy = cacheAware();
    // Each report is newer than the decision before, so that nothing is in flight.
    const routes = [0, 1, 2, 3].map((nowMs) => route(policy.decide(request(fleet, { nowMs }))));
    expect(routes).toEqual([
      ["a", "d"],
      ["b", "e"],
      ["c", "d"],
      ["a", "e"],
    ]);
  });

  test("CacheAware lets a lower score interrupt the turns", () => {
    const policy = cacheAware();
    const routes = [0, 1, 2].map((nowMs) => {
      const matches = nowMs === 1 ? [match("a", [1, 0, 0])] : [];
      return placed(policy.decide(request(fleet, { nowMs, matches }))).prefill.instance.registration.name;
    });
    expect(routes).toEqual(["a", "a", "b"]);
  });

  test("CacheAware begins anew when it is reset", () => {
    const policy = cacheAware({ predictionWindowMs: 1000 });
    const asked = () => request(fleet, { requestId: "r", matches: [match("a", [0, 0, 0])], nowMs: 5 });
    const first = policy.decide(asked());
    expect(policy.decide(asked())).not.toEqual(first);
    policy.reset();
    expect(policy.decide(asked())).toEqual(first);
  });
});

describe("CacheAware, requests in flight", () => {
  const fleet = [instance("a"), instance("b"), instance("d", "DECODE")];
  /** Reports from time 0, as seen at time `nowMs`. */
  const stale = (nowMs: number) => ({ nowMs, loads: { a: load(0, 0, nowMs), b: load(2, 0, nowMs), d: load(0, 0, nowMs) } });

  test("CacheAware counts what it sent since the last report as waiting, on both sides", () => {
    const policy = cacheAware();
    for (let nowMs = 1; nowMs <= 3; nowMs++) policy.decide(request(fleet, stale(nowMs)));
    const { candidates } = policy.decide(request(fleet, stale(4)));
    // a took two until it had as many waiting as b; then turns gave b one.
    expect(candidates.map(({ inFlightRequests }) => inFlightRequests)).toEqual([2, 1, 3]);
    expect(candidates.map(({ queueCost }) => queueCost)).toEqual([2 / 3, 1, 1]);
  });

  test("CacheAware trusts a report that is newer than the decision, and no older one", () => {
    const policy = cacheAware();
    policy.decide(request(fleet, stale(1)));
    const { candidates } = policy.decide(
      request(fleet, { nowMs: 10, loads: { a: load(0, 0, 8), b: load(2, 0, 8), d: load(0, 0, 9.5) } }),
    );
    expect(candidates.map(({ inFlightRequests }) => inFlightRequests)).toEqual([0, 0, 1]);
  });

  test.each([
    ["finish-prefill", [0, 0, 1]],
    ["generate", [0, 0, 1]],
    ["finish-decode", [0, 0, 0]],
    ["cancel", [0, 0, 0]],
  ] as const)("CacheAware counts a request no longer where %s ends its waiting", (step, expected) => {
    const policy = cacheAware();
    policy.decide(request(fleet, { ...stale(1), requestId: "r" }));
    policy.step("r", step);
    policy.step("never heard of", step);
    expect(policy.decide(request(fleet, stale(2))).candidates.map(({ inFlightRequests }) => inFlightRequests)).toEqual([
      ...expected,
    ]);
  });

  test("CacheAware forgets the requests of an instance that is gone", () => {
    const policy = cacheAware();
    policy.decide(request(fleet, stale(1)));
    policy.forgetInstance("a");
    policy.forgetInstance("d");
    expect(policy.decide(request(fleet, stale(2))).candidates.map(({ inFlightRequests }) => inFlightRequests)).toEqual([0, 0, 0]);
    expect(policy.counts).toEqual({ forgottenRequests: 0, unknownSteps: 0 });
  });
});

describe("CacheAware, predictions", () => {
  const fleet = [instance("a"), instance("b")];
  const matches = [match("a", [0, 0, 0]), match("b", [0, 0, 0])];
  const predicting = () => cacheAware({ prefillLambda: 1, predictionWindowMs: 500 });

  test("CacheAware sends an equal prompt where the first went, until the window ends", () => {
    const policy = predicting();
    const ask = (nowMs: number) => placed(policy.decide(request(fleet, { matches, nowMs })));
    expect(route(ask(0))).toEqual(["a", null]);
    const { prefill } = ask(499);
    expect(prefill.instance.registration.name).toBe("a");
    expect(prefill).toMatchObject({ hits: { deviceTokens: 0, predictedTokens: 1024 }, kvHitRatio: 1, score: 0 });
    // Sent again at 499, it counts until 999.
    expect(ask(999).candidates.map(({ kvHitRatio }) => kvHitRatio)).toEqual([0, 0]);
  });

  test("CacheAware adds predicted tokens to the measured ones", () => {
    const policy = predicting();
    const held = [match("a", [2, 1, 0]), match("b", [0, 0, 0])];
    policy.decide(request(fleet, { matches: held, tokens: prompt(640) }));
    // Measured: 256 and 128 tokens; predicted: 640 in all, so 256 more. (256 + 64 + 256) / 1,024.
    const { prefill } = placed(policy.decide(request(fleet, { matches: held, nowMs: 1 })));
    expect(prefill).toMatchObject({ hits: { deviceTokens: 256, hostOnlyTokens: 128, predictedTokens: 256 }, kvHitRatio: 0.5625 });
  });

  test("CacheAware predicts nothing for a prompt under another namespace", () => {
    const policy = predicting();
    policy.decide(request(fleet, { matches }));
    const namespace = { root: Uint8Array.of(1), extraKeys: null };
    const { candidates } = policy.decide(request(fleet, { matches, nowMs: 1, namespace }));
    expect(candidates.map(({ kvHitRatio }) => kvHitRatio)).toEqual([0, 0]);
  });

  test.each([
    [
      "has several ranks",
      [instance("a", "DEFAULT", { dpSize: 2 })],
      [match("a", [0, 0, 0]), match("a", [0, 0, 0], { dpRank: 1 })],
    ],
    ["is not listened to", [instance("a")], []],
    ["is out of step", [instance("a")], [match("a", [0, 0, 0], { unsynchronized: unsynchronized("not-connected") })]],
  ])("CacheAware predicts nothing for an instance that %s", (_, instances, streams) => {
    const policy = predicting();
    policy.decide(request(instances, { matches: streams }));
    expect(placed(policy.decide(request(instances, { matches: streams, nowMs: 1 }))).prefill.kvHitRatio).toBe(0);
  });

  test("CacheAware predicts nothing for an instance that was forgotten in between, or after a long time", () => {
    const policy = predicting();
    policy.decide(request(fleet, { matches }));
    policy.forgetInstance("a");
    expect(policy.decide(request(fleet, { matches, nowMs: 1 })).candidates[0].kvHitRatio).toBe(0);
    policy.tick(fleet, 5000);
    expect(policy.decide(request(fleet, { matches, nowMs: 5000 })).candidates[1].kvHitRatio).toBe(0);
  });
});

/** What holds for every policy and any fleet. */

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { StreamMatch } from "#domain";
import {
  CacheAware,
  type CacheAwareOptions,
  type Decision,
  type Policy,
  REQUEST_STEPS,
  RoundRobin,
  type RouteRequest,
  SloAware,
} from "#routing";
import { instance, load, match, NO_REPORT, prompt, request } from "../scene.ts";

const CACHE_AWARE: CacheAwareOptions = {
  prefillLambda: 0.5,
  hostHitWeight: 0.5,
  diskHitWeight: 0.25,
  trackInFlight: true,
  predictionWindowMs: 40,
};

const POLICIES: readonly [string, () => Policy][] = [
  ["RoundRobin", () => new RoundRobin()],
  ["CacheAware", () => new CacheAware(CACHE_AWARE)],
  ["SloAware", () => new SloAware({ targetTtftMs: 1000, targetTpotMs: 50 })],
];

/** One instance of a random fleet; the small ranges make ties and empty sides likely. */
const member = fc.record({
  role: fc.constantFrom("DEFAULT", "PREFILL", "DECODE", "MIX" as const),
  mixRole: fc.constantFrom("PREFILL", "DECODE" as const),
  state: fc.constantFrom("ACTIVE", "ACTIVE", "LEASE_LOST", "SUSPECT" as const),
  waiting: fc.option(fc.nat(3)),
  usage: fc.constantFrom(0, 0.25, 1),
  blocks: fc.option(fc.tuple(fc.nat(3), fc.nat(3), fc.nat(2))),
  ttftMs: fc.nat(900),
  tpotMs: fc.nat(80),
});

type Member = typeof member extends fc.Arbitrary<infer Value> ? Value : never;

function requestTo(members: readonly Member[], order: number): RouteRequest {
  const instances = members.map(({ role, mixRole, state, ttftMs, tpotMs }, position) => {
    const currentRole = role === "MIX" ? mixRole : role;
    return instance(`i-${position}`, role, {
      state,
      currentRole,
      ttftSamples: [[1024, ttftMs]],
      tpotSamples: [[100, 1, tpotMs]],
    });
  });
  const matches: StreamMatch[] = [];
  for (const [position, { blocks }] of members.entries()) if (blocks !== null) matches.push(match(`i-${position}`, blocks));
  const loads = Object.fromEntries(
    members.map(({ waiting, usage }, position) => [`i-${position}`, waiting === null ? NO_REPORT : load(waiting, usage, 25)]),
  );
  return request(instances, { requestId: `r-${order}`, matches, loads, nowMs: order * 10, tokens: prompt(1024, order % 3) });
}

const traffic = fc.array(fc.array(member, { maxLength: 6 }), { minLength: 1, maxLength: 8 });

function chosen(decision: Decision) {
  return decision.kind === "refused" ? [] : [decision.prefill, decision.decode].filter((candidate) => candidate !== null);
}

describe.each(POLICIES)("%s", (name, create) => {
  test(`${name} never chooses an excluded candidate, and serves alone on a DEFAULT only`, () => {
    const property = fc.property(traffic, (fleets) => {
      const policy = create();
      for (const [order, members] of fleets.entries()) {
        const decision = policy.decide(requestTo(members, order));
        for (const candidate of chosen(decision)) {
          expect(candidate.excluded).toBeNull();
          expect(candidate.instance.state).not.toBe("SUSPECT");
          expect(decision.candidates).toContain(candidate);
        }
        if (decision.kind === "placed" && decision.decode === null)
          expect(decision.prefill.instance.registration.role).toBe("DEFAULT");
        if (decision.kind === "placed" && decision.decode !== null) expect(decision.decode.side).toBe("decode");
        expect(decision.candidates.map(({ instance: { registration } }) => registration.name)).toEqual(
          members.map((_, position) => `i-${position}`),
        );
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  test(`${name} refuses exactly when nobody that may serve is on the prefill side`, () => {
    const property = fc.property(traffic, (fleets) => {
      const policy = create();
      for (const [order, members] of fleets.entries()) {
        const decision = policy.decide(requestTo(members, order));
        const isServed = decision.candidates.some(({ side, excluded }) => side === "prefill" && excluded === null);
        expect(decision.kind).toBe(isServed ? "placed" : "refused");
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  test(`${name} decides the same when it is asked the same`, () => {
    const property = fc.property(traffic, (fleets) => {
      const [one, other] = [create(), create()];
      other.decide(requestTo(fleets[0], 0));
      other.reset();
      for (const [order, members] of fleets.entries()) {
        expect(withoutRegistrations(one.decide(requestTo(members, order)))).toEqual(
          withoutRegistrations(other.decide(requestTo(members, order))),
        );
      }
    });
    fc.assert(property, { numRuns: 100 });
  });

  test(`${name} previews what it decides next, also for a request that is under way, and decides nothing otherwise by it`, () => {
    const step = fc.option(fc.constantFrom(...REQUEST_STEPS));
    const property = fc.property(
      fc.array(fc.tuple(fc.array(member, { maxLength: 6 }), fc.nat(2), step), { maxLength: 12 }),
      (asked) => {
        const [asking, unasked] = [create(), create()];
        for (const [order, [members, id, step]] of asked.entries()) {
          const next = { ...requestTo(members, order), requestId: `r-${id}` };
          const previews = [next, { ...next, requestId: "other" }, next].map((request) => asking.preview(request));
          expect(asking.books).toEqual(unasked.books);
          const decision = asking.decide(next);
          expect(previews[0]).toEqual(decision);
          expect(previews[2]).toEqual(decision);
          expect(withoutRegistrations(decision)).toEqual(withoutRegistrations(unasked.decide(next)));
          if (step === null) continue;
          const flips = [asking, unasked].map((policy) => policy.step("r-0", step, next.instances, next.nowMs));
          expect(flips[0]).toEqual(flips[1]);
        }
        expect([asking.books, asking.counts]).toEqual([unasked.books, unasked.counts]);
      },
    );
    fc.assert(property, { numRuns: 200 });
  });
});

/** All that a decision says, with instances by name. */
function withoutRegistrations(decision: Decision) {
  return JSON.parse(JSON.stringify(decision, (key, value) => (key === "instance" ? value.registration.name : value)));
}

describe("CacheAware", () => {
  const [, create] = POLICIES[1];

  test("CacheAware chooses the least score of each side", () => {
    const property = fc.property(traffic, (fleets) => {
      const policy = create();
      for (const [order, members] of fleets.entries()) {
        const decision = policy.decide(requestTo(members, order));
        for (const winner of chosen(decision)) {
          const scores = decision.candidates
            .filter(({ side, excluded }) => side === winner.side && excluded === null)
            .map(({ score }) => score);
          expect(winner.score).toBeLessThanOrEqual(Math.min(...scores.map((score) => score ?? Number.NaN)) + 1e-12);
        }
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  test("CacheAware keeps every number in its range, and gives the excluded none", () => {
    const property = fc.property(traffic, (fleets) => {
      const policy = create();
      for (const [order, members] of fleets.entries()) {
        for (const { side, excluded, kvHitRatio, queueCost, score } of policy.decide(requestTo(members, order)).candidates) {
          if (excluded !== null) expect(score).toBeNull();
          else expect(score).toBeWithin(0, side === "prefill" ? 1 + 1e-12 : 2 + 1e-12);
          expect(kvHitRatio >= 0 && kvHitRatio <= 1 && queueCost >= 0 && queueCost <= 1).toBe(true);
        }
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  test("CacheAware chooses equals equally often, within one", () => {
    const property = fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.nat(60),
      (prefill, decode, count) => {
        const fleet = [
          ...Array.from({ length: prefill }, (_, position) => instance(`a-${position}`)),
          ...Array.from({ length: decode }, (_, position) => instance(`d-${position}`, "DECODE")),
        ];
        const policy = create();
        const served = new Map(fleet.map(({ registration }) => [registration.name, 0]));
        for (let nowMs = 0; nowMs < count; nowMs++) {
          for (const {
            instance: { registration },
          } of chosen(policy.decide(request(fleet, { nowMs })))) {
            served.set(registration.name, (served.get(registration.name) ?? 0) + 1);
          }
        }
        for (const side of ["a-", "d-"]) {
          const counts = [...served].filter(([name]) => name.startsWith(side)).map(([, times]) => times);
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        }
      },
    );
    fc.assert(property, { numRuns: 100 });
  });
});

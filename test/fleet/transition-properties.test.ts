import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { REGISTRIES, type Registry } from "#domain";
import type { InstanceEffect, InstanceEvent, InstanceState } from "../../src/fleet/state.ts";
import { transition } from "../../src/fleet/transition.ts";
import { LIMITS, registration } from "./transition-states.ts";

const SEED = Number(process.env.WARMPATH_TEST_SEED ?? Date.now() & 0x7fffffff);
console.info(`Seed ${SEED}; again: WARMPATH_TEST_SEED=${SEED} bun test test/fleet/transition-properties.test.ts`);
const RUNS = { seed: SEED, numRuns: 3000 };

const PROCESSES = ["process-a", "process-b", "register_ts_ms:1", ""];

const incarnation = fc.constantFrom(...PROCESSES);
const registry = fc.oneof({ weight: 4, arbitrary: fc.constant<Registry>("etcd") }, fc.constantFrom(...REGISTRIES));

/** What happens, and how long after what happened before. */
type Step = readonly [elapsedMs: number, event: (nowMs: number) => InstanceEvent];

const event: fc.Arbitrary<Step[1]> = fc.oneof(
  fc.tuple(incarnation, registry, fc.integer({ min: 1, max: 4 })).map(([of, by, dpSize]) => (nowMs: number) => ({
    type: "put" as const,
    registration: registration({ incarnation: of, dpSize }),
    registry: by,
    nowMs,
  })),
  fc
    .tuple(fc.constantFrom("lease-lost" as const, "removed" as const), fc.option(incarnation), registry)
    .map(([type, of, by]) => () => ({ type, incarnation: of, registry: by })),
  fc.constantFrom("lease-lost" as const).map((type) => () => ({ type, incarnation: null, registry: "etcd" as const })),
  fc
    .constantFrom("probe-answered" as const, "probe-failed" as const, "tick" as const)
    .map((type) => (nowMs: number) => ({ type, nowMs })),
  fc.constantFrom("process-a", "process-b", "").map((incarnationId) => (nowMs: number) => ({
    type: "heartbeat" as const,
    incarnationId,
    nowMs,
  })),
  fc.constant((nowMs: number) => ({ type: "tick" as const, nowMs })),
);
const elapsedMs = fc.oneof(fc.constant(0), fc.constantFrom(1, 100, 1000, 2999, 3000, 14_999, 15_000, 60_000));
const story: fc.Arbitrary<Step[]> = fc.array(fc.tuple(elapsedMs, event), { maxLength: 40 });

interface Moment {
  before: InstanceState | null;
  event: InstanceEvent;
  after: InstanceState | null;
  effects: readonly InstanceEffect[];
  nowMs: number;
}

function tell(steps: readonly Step[], holds: (moment: Moment) => void): void {
  let state: InstanceState | null = null;
  let nowMs = 0;
  for (const [elapsed, eventAt] of steps) {
    nowMs += elapsed;
    const happened = eventAt(nowMs);
    const { state: after, effects }: ReturnType<typeof transition> = transition(state, happened, LIMITS);
    holds({ before: state, event: happened, after, effects, nowMs });
    state = after;
  }
}

const check = (createClaim: () => (moment: Moment) => void) =>
  fc.assert(
    fc.property(story, (steps) => tell(steps, createClaim())),
    RUNS,
  );

describe("transition, whatever happens", () => {
  test("Nothing is registered over what is there: a name is registered when it is free or was deregistered just before", () => {
    check(() => {
      let isThere = false;
      return ({ effects, after }) => {
        for (const { type } of effects) {
          if (type === "register") expect(isThere).toBe(false);
          if (type === "deregister" || type === "refresh") expect(isThere).toBe(true);
          if (type === "register") isThere = true;
          if (type === "deregister") isThere = false;
        }
        expect(after !== null).toBe(isThere);
      };
    });
  });

  test("A process that was replaced leaves nothing: the registration is one that the present process's registry has put", () => {
    check(() => {
      let own: { incarnation: string; registry: Registry; puts: Set<unknown> } | null = null;
      return ({ event: happened, after, effects }) => {
        const isTaken = happened.type === "put" && !effects.some(({ type }) => type === "ignore");
        if (isTaken) {
          const { incarnation: of } = happened.registration;
          const isNew = effects.some(({ type }) => type === "register");
          expect(isNew).toBe(own === null || own.incarnation !== of);
          own = { incarnation: of, registry: happened.registry, puts: new Set(isNew ? [] : own?.puts) };
          own.puts.add(happened.registration);
          expect(after?.registration).toBe(happened.registration);
        }
        if (after === null) own = null;
        else expect(own?.puts.has(after.registration)).toBe(true);
        expect(after?.registration.incarnation).toBe(own?.incarnation);
        expect(after?.registry).toBe(own?.registry);
      };
    });
  });

  test("SUSPECT never outlives its window, which only a failed probe begins anew", () => {
    check(() => {
      let suspectSinceMs: number | null = null;
      return ({ before, event: happened, after, nowMs }) => {
        const isProbeFailed = happened.type === "probe-failed" && before?.isProbed === true;
        if (after?.kind !== "SUSPECT") suspectSinceMs = null;
        else if (before?.kind !== "SUSPECT" || isProbeFailed) suspectSinceMs = nowMs;
        if (happened.type !== "tick" || suspectSinceMs === null) return;
        expect(nowMs - suspectSinceMs).toBeLessThan(LIMITS.suspectTimeoutMs);
      };
    });
  });

  test("LEASE_LOST never outlives the last sign of life by more than is allowed", () => {
    check(() => {
      let signOfLifeMs = 0;
      return ({ event: happened, after, nowMs }) => {
        if (happened.type === "heartbeat" || happened.type === "probe-answered") signOfLifeMs = nowMs;
        if (happened.type !== "tick" || after?.kind !== "LEASE_LOST") return;
        expect(nowMs - signOfLifeMs).toBeLessThan(LIMITS.leaseLostHeartbeatTimeoutMs);
      };
    });
  });

  test("A deletion or a heartbeat of another process changes nothing, and neither does anything from another registry", () => {
    check(() => ({ before, event: happened, after, effects }) => {
      if (before === null || !isStale(happened, before)) return;
      expect(after).toBe(before);
      expect(effects.map(({ type }) => type)).toEqual(["ignore"]);
    });
  });

  test("Probes are started one at a time, and none is under way of an instance that is not there", () => {
    check(() => {
      let isUnderWay = false;
      return ({ before, event: happened, after, effects }) => {
        if (happened.type.startsWith("probe-") && before?.isProbed) isUnderWay = false;
        for (const { type } of effects) {
          if (type === "start-probe") expect(isUnderWay).toBe(false);
          if (type === "cancel-probe") expect(isUnderWay).toBe(true);
          if (type === "deregister" || type === "register") expect(isUnderWay).toBe(false);
          if (type === "start-probe") isUnderWay = true;
          if (type === "cancel-probe") isUnderWay = false;
        }
        expect(after?.isProbed ?? false).toBe(isUnderWay);
      };
    });
  });

  test("A transition is a function: the state that it is given stays as it is", () => {
    fc.assert(
      fc.property(story, (steps) => {
        tell(steps, ({ before, event: happened, after, effects }) => {
          const kept = structuredClone(before);
          expect(transition(before, happened, LIMITS)).toEqual({ state: after, effects });
          expect(before).toEqual(kept);
        });
      }),
      { ...RUNS, numRuns: 300 },
    );
  });
});

function isStale(happened: InstanceEvent, { registration: { incarnation: present }, registry: holder }: InstanceState): boolean {
  switch (happened.type) {
    case "put":
      return happened.registry !== holder;
    case "lease-lost":
    case "removed":
      return happened.registry !== holder || (happened.incarnation !== null && happened.incarnation !== present);
    case "heartbeat":
      return happened.incarnationId !== (present === "register_ts_ms:1" ? "" : present);
    case "probe-answered":
    case "probe-failed":
    case "tick":
      return false;
  }
}

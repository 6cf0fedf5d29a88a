import { describe, expect, test } from "bun:test";
import type { InstanceState } from "../../src/fleet/state.ts";
import { transition } from "../../src/fleet/transition.ts";
import { active, LIMITS, leaseLost, registration, STATES, suspect } from "./transition-states.ts";

const PRESENT_STATES = Object.entries(STATES).filter((entry): entry is [string, InstanceState] => entry[1] !== null);

const next = (...parameters: [Parameters<typeof transition>[0], Parameters<typeof transition>[1]]) =>
  transition(...parameters, LIMITS).state;

describe("transition: the clocks", () => {
  test("LEASE_LOST becomes SUSPECT at the tick when the last heartbeat is as old as is allowed, not a millisecond before", () => {
    const state = leaseLost({ heartbeatAtMs: 1000 });
    expect(next(state, { type: "tick", nowMs: 3999 })).toBe(state);
    expect(next(state, { type: "tick", nowMs: 4000 })).toEqual(suspect({ sinceMs: 4000 }));
  });

  test("SUSPECT is deregistered at the tick when it is as old as is allowed, not a millisecond before", () => {
    const state = suspect({ sinceMs: 1000 });
    expect(next(state, { type: "tick", nowMs: 15_999 })).toBe(state);
    expect(next(state, { type: "tick", nowMs: 16_000 })).toBeNull();
  });

  test("ACTIVE lasts through any silence", () => {
    const state = active();
    expect(next(state, { type: "tick", nowMs: 1e12 })).toBe(state);
  });

  test("A heartbeat restarts the clock of heartbeats in LEASE_LOST, and leaves that of the state", () => {
    const heartbeat = { type: "heartbeat", incarnationId: "process-a", nowMs: 2500 } as const;
    expect(next(leaseLost(), heartbeat)).toEqual(leaseLost({ heartbeatAtMs: 2500 }));
  });

  test("A heartbeat brings SUSPECT back to LEASE_LOST, whose clocks begin then", () => {
    const heartbeat = { type: "heartbeat", incarnationId: "process-a", nowMs: 2500 } as const;
    expect(next(suspect(), heartbeat)).toEqual(leaseLost({ sinceMs: 2500, heartbeatAtMs: 2500 }));
  });

  test("A probe that is answered restarts the clock of heartbeats", () => {
    const answered = { type: "probe-answered", nowMs: 700 } as const;
    expect(next(active({ isProbed: true }), answered)).toEqual(leaseLost({ sinceMs: 700, heartbeatAtMs: 700 }));
    expect(next(leaseLost({ isProbed: true }), answered)).toEqual(leaseLost({ heartbeatAtMs: 700 }));
  });

  test("A probe that fails restarts the time in SUSPECT", () => {
    const failed = { type: "probe-failed", nowMs: 700 } as const;
    expect(next(suspect({ isProbed: true }), failed)).toEqual(suspect({ sinceMs: 700 }));
  });

  test("A put of the same process keeps the clock of ACTIVE and begins one anew from another state", () => {
    const put = { type: "put", registration: registration(), registry: "etcd", nowMs: 900 } as const;
    expect(next(active({ sinceMs: 5 }), put)).toEqual(active({ sinceMs: 5 }));
    expect(next(leaseLost({ sinceMs: 5 }), put)).toEqual(active({ sinceMs: 900 }));
    expect(next(suspect({ sinceMs: 5 }), put)).toEqual(active({ sinceMs: 900 }));
  });
});

describe("transition: who speaks", () => {
  test("A put of the same process replaces its description", () => {
    const described = registration({ dpSize: 4, role: "PREFILL" });
    const put = { type: "put", registration: described, registry: "etcd", nowMs: 900 } as const;
    for (const [, state] of PRESENT_STATES) expect(next(state, put)?.registration).toBe(described);
  });

  test("A put of another process begins with that process alone", () => {
    const described = registration({ incarnation: "process-b" });
    const put = { type: "put", registration: described, registry: "etcd", nowMs: 900 } as const;
    for (const [, state] of PRESENT_STATES) {
      expect(next(state, put)).toEqual(active({ incarnation: "process-b", sinceMs: 900 }));
    }
  });

  test.each([
    ["process-a", "process-a", true],
    ["process-a", "process-b", false],
    ["process-a", "", false],
    ["", "", true],
    ["", "process-a", false],
    ["register_ts_ms:1790000000000", "", true],
    ["register_ts_ms:1790000000000", "process-a", false],
    ["register_ts_ms:1790000000000", "register_ts_ms:1790000000000", false],
  ])("A process known as %j takes a heartbeat with incarnation id %j: %p", (incarnation, incarnationId, isTaken) => {
    const state = suspect({ incarnation });
    const { effects } = transition(state, { type: "heartbeat", incarnationId, nowMs: 1 }, LIMITS);
    expect(effects).toEqual(isTaken ? [] : [{ type: "ignore", reason: "stale-incarnation" }]);
  });

  test.each(PRESENT_STATES)("What means nothing in %s leaves the very same state", (_column, state) => {
    const put = { type: "put", registration: registration({ incarnation: "process-b" }), registry: "http", nowMs: 1 } as const;
    expect(next(state, put)).toBe(state);
    for (const type of ["lease-lost", "removed"] as const) {
      expect(next(state, { type, registry: "http", incarnation: null })).toBe(state);
      expect(next(state, { type, registry: "etcd", incarnation: "process-b" })).toBe(state);
      expect(next(state, { type, registry: "etcd", incarnation: "" })).toBe(state);
    }
    expect(next(state, { type: "heartbeat", incarnationId: "process-b", nowMs: 1 })).toBe(state);
  });
});

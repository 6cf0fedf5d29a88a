import { describe, expect, test } from "bun:test";
import { INSTANCE_STATES } from "../../src/fleet/instance.ts";
import type { InstanceEvent } from "../../src/fleet/state.ts";
import { transition } from "../../src/fleet/transition.ts";
import { readStateTable } from "../support/state-table.ts";
import { columnOf, effectName, LIMITS, PRESENT, registration, STATES } from "./transition-states.ts";

const TABLE = await readStateTable(new URL("../../src/fleet/README.md", import.meta.url), "event");

const EVENT_TYPES = Object.keys({
  put: true,
  "lease-lost": true,
  removed: true,
  "probe-answered": true,
  "probe-failed": true,
  heartbeat: true,
  tick: true,
} satisfies Record<InstanceEvent["type"], true>);

/** Both timeouts of `LIMITS` lie between. */
const EARLY_MS = 2999;
const LATE_MS = 15_000;

const put = (incarnation: string, registry: "etcd" | "http" = "etcd"): InstanceEvent => ({
  type: "put",
  registration: registration({ incarnation }),
  registry,
  nowMs: EARLY_MS,
});

/** What the rows of the table stand for. */
const EVENTS: Record<string, InstanceEvent> = {
  "put: the same process": put(PRESENT),
  "put: another process": put("process-b"),
  "put: by another registry": put(PRESENT, "http"),
  ...ofRegistry("lease-lost"),
  ...ofRegistry("removed"),
  "probe-answered": { type: "probe-answered", nowMs: EARLY_MS },
  "probe-failed": { type: "probe-failed", nowMs: EARLY_MS },
  "heartbeat: the process": { type: "heartbeat", incarnationId: PRESENT, nowMs: EARLY_MS },
  "heartbeat: another process": { type: "heartbeat", incarnationId: "process-b", nowMs: EARLY_MS },
  "tick: in time": { type: "tick", nowMs: EARLY_MS },
  "tick: time is over": { type: "tick", nowMs: LATE_MS },
};

function ofRegistry(type: "lease-lost" | "removed"): Record<string, InstanceEvent> {
  return {
    [`${type}: the process`]: { type, incarnation: PRESENT, registry: "etcd" },
    [`${type}: whichever process`]: { type, incarnation: null, registry: "etcd" },
    [`${type}: another process`]: { type, incarnation: "process-b", registry: "etcd" },
    [`${type}: by another registry`]: { type, incarnation: PRESENT, registry: "http" },
  };
}

const PAIRS = Object.keys(EVENTS).flatMap((event) => Object.keys(STATES).map((column) => ({ event, column })));

describe("The state table of README.md", () => {
  test("The state table has a column for every state, probed and not, and a row for every event", () => {
    expect(TABLE.columns).toEqual(Object.keys(STATES));
    expect(TABLE.columns).toEqual(["none", ...INSTANCE_STATES.flatMap((kind) => [kind, `${kind}, probed`])]);
    expect([...TABLE.rows.keys()]).toEqual(Object.keys(EVENTS));
    expect(new Set<string>(Object.values(EVENTS).map(({ type }) => type))).toEqual(new Set(EVENT_TYPES));
  });

  test.each(PAIRS)("The state table says what transition does: $event in $column", ({ event, column }) => {
    const { state, effects } = transition(STATES[column], EVENTS[event], LIMITS);
    const cell = TABLE.rows.get(event)?.get(column);
    expect(cell).toEqual({ next: columnOf(state), effects: effects.map(effectName) });
  });

  test("Every state of the table is the one that its column names", () => {
    for (const [column, state] of Object.entries(STATES)) expect(columnOf(state)).toBe(column);
  });
});

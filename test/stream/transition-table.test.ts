import { describe, expect, test } from "bun:test";
import { UNSYNCHRONIZED_REASONS } from "#domain";
import type { StreamEvent, StreamState, TransitionLimits } from "../../src/stream/state.ts";
import { transition } from "../../src/stream/transition.ts";
import type { Cell } from "../support/state-table.ts";
import { effectName } from "./effect-names.ts";
import { readMoves, readReasons, readStreamTable } from "./readme-tables.ts";
import { TABLES } from "./table-rows.ts";

const MOVES = await readMoves();
const READ = await Promise.all(TABLES.map(async (table) => ({ ...table, readme: await readStreamTable(table.title) })));

const STATE_KINDS = Object.keys({
  connecting: true,
  recovering: true,
  replaying: true,
  live: true,
  waiting: true,
} satisfies Record<StreamState["kind"], true>);
const EVENT_TYPES = Object.keys({
  connected: true,
  disconnected: true,
  "handshake-broken-off": true,
  "subscriber-lost": true,
  batch: true,
  "message-malformed": true,
  "batch-failed": true,
  replayed: true,
  "replay-applied": true,
  "replay-apply-failed": true,
  snapshot: true,
  "answer-end": true,
  "request-failed": true,
  adopted: true,
  "adopt-failed": true,
  timer: true,
} satisfies Record<StreamEvent["type"], true>);

const CASES = READ.flatMap(({ title, readme, rows, states, limits }) =>
  [...readme.rows].map(([name, cells]) => ({ title, name, cells, row: rows[name], states, limits })),
);

function run(state: StreamState, event: StreamEvent, limits: TransitionLimits): Cell {
  const { state: next, effects } = transition(state, event, limits);
  return { next: next.kind, effects: effects.map(effectName) };
}

describe("The state tables of README.md", () => {
  test.each(READ)("The state table of an $title has a column for every state that it can have, and every row", (table) => {
    expect(table.readme.columns).toEqual(Object.keys(table.states));
    expect([...table.readme.rows.keys()]).toEqual(Object.keys(table.rows));
  });

  test("The state tables of snapshots and of replays have a row for every event, and together a column for every state", () => {
    for (const { rows } of TABLES.slice(0, 2)) {
      expect(new Set(Object.values(rows).map(({ event }) => event.type))).toEqual(new Set(EVENT_TYPES as StreamEvent["type"][]));
    }
    const kinds = TABLES.flatMap(({ states }) => Object.values(states).map(({ kind }) => kind));
    expect(new Set<string>(kinds)).toEqual(new Set(STATE_KINDS));
  });

  test.each(CASES)("The state table says what transition does: $title, $name", ({ cells, row, states, limits }) => {
    for (const [column, cell] of cells) {
      const state = row.states?.[column] ?? states[column];
      expect({ column, ...run(state, row.event, limits) }).toEqual({ column, ...cell });
    }
  });

  test("A stream with neither snapshots nor replays does in every other row what one with replays does", () => {
    const [, replays, neither] = READ;
    let cellsTried = 0;
    for (const [name, cells] of replays.readme.rows) {
      if (name in neither.rows || name.startsWith("connected") || name.startsWith("timer retry, nothing")) continue;
      const { event, states = {} } = replays.rows[name];
      for (const [column, cell] of cells) {
        if (cell.next === "replaying" || column === "replaying") continue;
        expect({ name, column, ...run(states[column] ?? replays.states[column], event, neither.limits) }).toEqual({
          name,
          column,
          ...cell,
        });
        cellsTried += 1;
      }
    }
    expect(cellsTried).toBeGreaterThan(80);
  });

  test("The state tables are those of a settled state: one that has not lasted waits wherever they say that it is lost", () => {
    const losses = ["lose state", "lose place", "lose blocks"].map((move) => (MOVES.get(move) ?? []).join());
    let cellsTried = 0;
    for (const { cells, row, states, limits } of CASES) {
      for (const [column, cell] of cells) {
        const state = row.states?.[column] ?? states[column];
        if (state.kind !== "live" || !losses.some((loss) => cell.effects.join().startsWith(loss))) continue;
        const young = run({ ...state, attempt: 1 }, row.event, limits);
        if (limits.recovery === "none") continue;
        expect(young).toEqual({ next: "waiting", effects: MOVES.get("lose young state") ?? [] });
        cellsTried += 1;
      }
    }
    expect(cellsTried).toBeGreaterThan(10);
  });

  test("The table of reasons explains every reason", async () => {
    expect(new Set(await readReasons())).toEqual(new Set<string>(UNSYNCHRONIZED_REASONS));
  });
});

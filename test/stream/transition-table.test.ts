import { describe, expect, test } from "bun:test";
import { UNSYNCHRONIZED_REASONS } from "#domain";
import type { StreamEvent, StreamState, Timer } from "../../src/stream/state.ts";
import { transition } from "../../src/stream/transition.ts";
import { effectName } from "./effect-names.ts";
import { type Cell, readReasons, readStateTable } from "./state-table.ts";
import { batch, check, connecting, held, LIMITS, live, PROBLEM, recovering, waiting } from "./states.ts";

const TABLE = await readStateTable();

/** One state for each column: 15 to 20 were held, or 20 was the last batch. */
const STATES: Record<string, StreamState> = {
  connecting: connecting(),
  recovering: recovering({ held: held(15, 20) }),
  live: live(),
  "live, checking": live({ check: check() }),
  waiting: waiting(),
};

interface Row {
  event: StreamEvent;
  /** The states of the columns in which the event means what the row says, where STATES are not those. */
  states?: Record<string, StreamState>;
}

const problem = (type: "subscriber-lost" | "message-malformed" | "batch-failed" | "snapshot-failed" | "adopt-failed"): Row => ({
  event: { type, problem: PROBLEM },
});
const timer = (name: Timer, states?: Row["states"]): Row => ({ event: { type: "timer", timer: name }, states: { ...states } });
const withWatermark = (watermark: number): Row["states"] => ({
  recovering: recovering({ held: held(15, 20), watermark }),
  "live, checking": live({ check: check({ watermark }) }),
});

const ROWS: Record<string, Row> = {
  connected: { event: { type: "connected" } },
  disconnected: { event: { type: "disconnected" } },
  "subscriber-lost": problem("subscriber-lost"),
  "message-malformed": problem("message-malformed"),
  "batch: next in order": { event: batch(21) },
  "batch: next in order, beyond the buffer": { event: batch(21, { bytes: LIMITS.maxBufferedBytes + 1 }) },
  "batch: repeat": { event: batch(20, { isRepeat: true }) },
  "batch: covered by the snapshot": {
    event: batch(20),
    states: {
      recovering: recovering({ watermark: 22 }),
      live: live({ coveredAfter: 19 }),
      "live, checking": live({ coveredAfter: 19, check: check() }),
    },
  },
  "batch: after a gap": { event: batch(22) },
  "batch: lower": { event: batch(3) },
  "batch: full state": { event: batch(30, { isFullState: true }) },
  "batch-failed": problem("batch-failed"),
  "snapshot: the first": { event: { type: "snapshot", watermark: 20 } },
  "snapshot: another": { event: { type: "snapshot", watermark: 20 }, states: { ...withWatermark(20) } },
  "snapshot-end: whole": { event: { type: "snapshot-end" }, states: { ...withWatermark(20) } },
  "snapshot-end: nothing before it": { event: { type: "snapshot-end" } },
  "snapshot-end: behind the batches": { event: { type: "snapshot-end" }, states: { ...withWatermark(13) } },
  "snapshot-failed": problem("snapshot-failed"),
  adopted: { event: { type: "adopted", batchSeq: 20, isEmpty: false } },
  "adopted: ahead": { event: { type: "adopted", batchSeq: 25, isEmpty: false } },
  "adopt-failed": problem("adopt-failed"),
  "timer snapshot": timer("snapshot"),
  "timer retry, subscriber open": timer("retry"),
  "timer retry, no subscriber": timer("retry", { waiting: waiting({ hasSubscriber: false }) }),
  "timer resync": timer("resync"),
  "timer settle": timer("settle"),
};

const STATE_KINDS: readonly StreamState["kind"][] = ["connecting", "recovering", "live", "waiting"];
const EVENT_TYPES = Object.keys({
  connected: true,
  disconnected: true,
  "subscriber-lost": true,
  batch: true,
  "message-malformed": true,
  "batch-failed": true,
  snapshot: true,
  "snapshot-end": true,
  "snapshot-failed": true,
  adopted: true,
  "adopt-failed": true,
  timer: true,
} satisfies Record<StreamEvent["type"], true>);

function run(row: string, column: string, state: StreamState): Cell & { where: string } {
  const { state: next, effects } = transition(state, ROWS[row].event, LIMITS);
  return { where: `${row} in ${column}`, next: next.kind, effects: effects.map(effectName) };
}

describe("The state table of README.md", () => {
  test("The state table has a column for every state and a row for every event", () => {
    expect(TABLE.columns).toEqual(Object.keys(STATES));
    expect([...TABLE.rows.keys()]).toEqual(Object.keys(ROWS));
    expect(new Set(Object.values(STATES).map(({ kind }) => kind))).toEqual(new Set(STATE_KINDS));
    expect(new Set<string>(Object.values(ROWS).map(({ event }) => event.type))).toEqual(new Set(EVENT_TYPES));
  });

  test.each([...TABLE.rows.keys()])("The state table says what transition does on %s", (row) => {
    for (const [column, cell] of TABLE.rows.get(row) ?? []) {
      const state = ROWS[row].states?.[column] ?? STATES[column];
      expect(run(row, column, state)).toEqual({ where: `${row} in ${column}`, ...cell });
    }
  });

  test("The state table is that of a settled state: one that has not lasted waits wherever it says lose state", () => {
    const loseState = (TABLE.moves.get("lose state") ?? []).join();
    let cellsTried = 0;
    for (const [row, cells] of TABLE.rows) {
      for (const [column, cell] of cells) {
        const state = ROWS[row].states?.[column] ?? STATES[column];
        if (state.kind !== "live" || !cell.effects.join().startsWith(loseState)) continue;
        const { next, effects } = run(row, column, { ...state, attempt: 1 });
        expect(next).toBe("waiting");
        expect(effects).toEqual(TABLE.moves.get("lose young state") ?? []);
        cellsTried += 1;
      }
    }
    expect(cellsTried).toBeGreaterThan(5);
  });

  test("The table of reasons explains every reason", async () => {
    expect(new Set(await readReasons())).toEqual(new Set<string>(UNSYNCHRONIZED_REASONS));
  });
});

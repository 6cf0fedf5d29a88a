/** What the rows and columns of the README's state tables stand for: an event for each row, a state for each column. */

import { unsynchronized } from "#domain";
import type { StreamEvent, StreamState, Timer, TransitionLimits } from "../../src/stream/state.ts";
import {
  batch,
  check,
  connecting,
  held,
  LIMITS,
  LIMITS_WITHOUT_REPLAY,
  live,
  PROBLEM,
  REPLAY_LIMITS,
  recovering,
  replaying,
  waiting,
} from "./states.ts";

interface TableRow {
  event: StreamEvent;
  /** The states of the columns in which the event means what the row says, where the table's own are not those. */
  states?: Record<string, StreamState>;
}

export interface DescribedTable {
  /** Title of the first column. */
  title: string;
  limits: TransitionLimits;
  /** One state for each column. */
  states: Record<string, StreamState>;
  rows: Record<string, TableRow>;
}

const problem = (
  type:
    | "handshake-broken-off"
    | "subscriber-lost"
    | "message-malformed"
    | "batch-failed"
    | "request-failed"
    | "adopt-failed"
    | "replay-apply-failed",
): TableRow => ({ event: { type, problem: PROBLEM } });
const timer = (name: Timer, states: Record<string, StreamState> = {}): TableRow => ({
  event: { type: "timer", timer: name },
  states,
});
const withWatermark = (watermark: number): Record<string, StreamState> => ({
  recovering: recovering({ held: held(15, 20), watermark }),
  "live, checking": live({ check: check({ watermark }) }),
});

const COMMON: Record<string, TableRow> = {
  disconnected: { event: { type: "disconnected" } },
  "handshake-broken-off": problem("handshake-broken-off"),
  "subscriber-lost": problem("subscriber-lost"),
  "message-malformed": problem("message-malformed"),
  "batch: next in order": { event: batch(21) },
  "batch: next in order, beyond the buffer": { event: batch(21, { bytes: LIMITS.maxBufferedBytes + 1 }) },
  "batch: repeat": { event: batch(20, { isRepeat: true }) },
  "batch: after a gap": { event: batch(22) },
  "batch: lower": { event: batch(3) },
  "batch: full state": { event: batch(30, { isFullState: true }) },
  "batch-failed": problem("batch-failed"),
  adopted: { event: { type: "adopted", batchSeq: 20, isEmpty: false } },
  "adopt-failed": problem("adopt-failed"),
  "timer resync": timer("resync"),
  "timer settle": timer("settle"),
};

/** What an engine with snapshots never says. */
const OF_REPLAYS: Record<string, TableRow> = {
  replayed: { event: { type: "replayed", batchSeq: 21, isKnown: false } },
  "replay-applied": { event: { type: "replay-applied" } },
  "replay-apply-failed": problem("replay-apply-failed"),
};

/** In `recovering` 15 to 20 were held; 20 was the last batch of the others. */
const SNAPSHOTS: DescribedTable = {
  title: "event, with snapshots",
  limits: LIMITS,
  states: {
    connecting: connecting(),
    recovering: recovering({ held: held(15, 20) }),
    live: live(),
    "live, checking": live({ check: check() }),
    waiting: waiting(),
  },
  rows: {
    connected: { event: { type: "connected" } },
    ...COMMON,
    "batch: covered by the snapshot": {
      event: batch(20),
      states: {
        recovering: recovering({ watermark: 22 }),
        live: live({ coveredAfter: 19 }),
        "live, checking": live({ coveredAfter: 19, check: check() }),
      },
    },
    "snapshot: the first": { event: { type: "snapshot", watermark: 20 } },
    "snapshot: another": { event: { type: "snapshot", watermark: 20 }, states: withWatermark(20) },
    "answer-end: whole": { event: { type: "answer-end" }, states: withWatermark(20) },
    "answer-end: nothing before it": { event: { type: "answer-end" } },
    "answer-end: behind the batches": { event: { type: "answer-end" }, states: withWatermark(13) },
    "request-failed": problem("request-failed"),
    "adopted: ahead": { event: { type: "adopted", batchSeq: 25, isEmpty: false } },
    "timer answer": timer("answer"),
    "timer retry, subscriber open": timer("retry"),
    "timer retry, no subscriber": timer("retry", { waiting: waiting({ hasSubscriber: false }) }),
    ...OF_REPLAYS,
  },
};

const END: StreamEvent = { type: "answer-end" };
const ANSWER_TIMER: StreamEvent = { type: "timer", timer: "answer" };
const inReplaying = (event: StreamEvent, fields: Parameters<typeof replaying>[0]): TableRow => ({
  event,
  states: { replaying: replaying(fields) },
});
const replayed = (batchSeq: number, isKnown = false): StreamEvent => ({ type: "replayed", batchSeq, isKnown });

/** 20 is the last batch that the index holds. */
const REPLAYS: DescribedTable = {
  title: "event, with replays",
  limits: REPLAY_LIMITS,
  states: { connecting: connecting(0, 20), replaying: replaying(), live: live(), waiting: waiting({ known: 20 }) },
  rows: {
    "connected, 20 known": { event: { type: "connected" } },
    "connected, nothing known": { event: { type: "connected" }, states: { connecting: connecting() } },
    ...COMMON,
    "batch: next after those held": inReplaying(batch(31), { held: held(29, 30) }),
    "batch: lower, process not proven": inReplaying(batch(3), { isProven: false }),
    "replayed: the next": { event: replayed(21) },
    "replayed: an earlier one": { event: replayed(20, true) },
    "replayed: behind a hole": { event: replayed(23) },
    "replayed: behind a hole asked for again": inReplaying(replayed(23), { hole: 21, requests: 2 }),
    "replayed: the last of a process not proven": inReplaying(replayed(20, true), { isProven: false }),
    "replayed: another in its place": inReplaying(replayed(20), { isProven: false }),
    "replayed: a later one, process not proven": inReplaying(replayed(22), { isProven: false }),
    "replay-applied: before those held": inReplaying({ type: "replay-applied" }, { held: held(23, 24) }),
    "replay-applied: up to those held": inReplaying({ type: "replay-applied" }, { held: held(21, 24) }),
    "replay-apply-failed": problem("replay-apply-failed"),
    "replay-apply-failed: unreadable": {
      event: { type: "replay-apply-failed", problem: unsynchronized("batch-malformed", 20) },
    },
    "answer-end": { event: END },
    "answer-end: behind a batch": inReplaying(END, { answered: "now" }),
    "answer-end: before those held": inReplaying(END, { held: held(23, 24) }),
    "answer-end: before those held, asked for again": inReplaying(END, { held: held(23, 24), hole: 21, requests: 2 }),
    "answer-end: process not proven": inReplaying(END, { isProven: false }),
    "request-failed": problem("request-failed"),
    "request-failed: the third in a row": inReplaying({ type: "request-failed", problem: PROBLEM }, { attempt: 2 }),
    snapshot: { event: { type: "snapshot", watermark: 20 } },
    "timer answer": { event: ANSWER_TIMER },
    "timer answer: the third in a row": inReplaying(ANSWER_TIMER, { attempt: 2 }),
    "timer answer: behind a batch": inReplaying(ANSWER_TIMER, { answered: "now" }),
    "timer answer: a second time": inReplaying(ANSWER_TIMER, { answered: "before", requests: 2 }),
    "timer answer: a second time, before those held": inReplaying(ANSWER_TIMER, {
      answered: "before",
      requests: 2,
      held: held(23, 24),
    }),
    "timer retry, subscriber open": timer("retry"),
    "timer retry, nothing known": timer("retry", { waiting: waiting() }),
    "timer retry, no subscriber": timer("retry", { waiting: waiting({ hasSubscriber: false, known: 20 }) }),
  },
};

/** As `REPLAYS`, for the events that mean something else where nothing can be asked for. */
const NEITHER: DescribedTable = {
  title: "event, with neither",
  limits: LIMITS_WITHOUT_REPLAY,
  states: { connecting: connecting(0, 20), live: live(), waiting: waiting({ known: 20 }) },
  rows: {
    connected: { event: { type: "connected" } },
    "message-malformed": problem("message-malformed"),
    "batch: the first to come": { event: batch(57), states: { live: live({ batchSeq: -1, accepts: "any" }) } },
    "batch: after a gap": { event: batch(22) },
    "batch: lower": { event: batch(3) },
    "batch-failed": problem("batch-failed"),
    "adopt-failed": problem("adopt-failed"),
    "timer retry, subscriber open": timer("retry"),
  },
};

export const TABLES: readonly DescribedTable[] = [SNAPSHOTS, REPLAYS, NEITHER];

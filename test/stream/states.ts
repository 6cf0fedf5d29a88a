/** States and events as tests of the transition need them, each with what a test does not care about filled in. */

import { unsynchronized } from "#domain";
import {
  type Held,
  type Live,
  NONE,
  type Recovery,
  type Replaying,
  type StreamEvent,
  type StreamState,
} from "../../src/stream/state.ts";

type Check = NonNullable<Live["check"]>;

export const LIMITS = { recovery: "snapshot", maxBufferedBytes: 1000, replayTimeoutMs: 2000 } as const;
export const REPLAY_LIMITS = { ...LIMITS, recovery: "replay" } as const;
export const LIMITS_WITHOUT_REPLAY = { ...LIMITS, recovery: "none" } as const;

/** A problem that no transition makes up by itself. */
export const PROBLEM = unsynchronized("wrong-block-size", 77);

const BATCH_BYTES = 10;

export const connecting = (attempt = 0, known = NONE): StreamState => ({ kind: "connecting", attempt, known });

export const waiting = (fields: Partial<Extract<StreamState, { kind: "waiting" }>> = {}): StreamState => ({
  kind: "waiting",
  attempt: 1,
  hasSubscriber: true,
  known: NONE,
  ...fields,
});

export const recovering = (recovery: Partial<Recovery> = {}, attempt = 0): StreamState => ({
  kind: "recovering",
  attempt,
  recovery: { held: null, watermark: null, ...recovery },
});

/** At batch 20, of a process that has proven to be the one known; nothing has come yet. */
export const replaying = (fields: Partial<Replaying> = {}): Replaying => ({
  kind: "replaying",
  attempt: 0,
  held: null,
  position: 20,
  isProven: true,
  hole: null,
  answered: "never",
  requests: 1,
  accepts: "next",
  ...fields,
});

/** Settled, after batch 20. */
export const live = (fields: Partial<Live> = {}): Live => ({
  kind: "live",
  attempt: 0,
  batchSeq: 20,
  accepts: "next",
  coveredAfter: null,
  check: null,
  ...fields,
});

/** A check that was begun after batch 20. */
export const check = (fields: Partial<Check> = {}): Check => ({ held: null, watermark: null, checkedFrom: 20, ...fields });

export const held = (first: number, last: number): Held => ({ first, last, bytes: (last - first + 1) * BATCH_BYTES });

export const batch = (
  batchSeq: number,
  fields: Partial<Extract<StreamEvent, { type: "batch" }>> = {},
): Extract<StreamEvent, { type: "batch" }> => ({
  type: "batch",
  batchSeq,
  bytes: BATCH_BYTES,
  isRepeat: false,
  isFullState: false,
  ...fields,
});

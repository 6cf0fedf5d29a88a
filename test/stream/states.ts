/** States and events as tests of the transition need them, each with what a test does not care about filled in. */

import { unsynchronized } from "#domain";
import type { Held, Live, Recovery, StreamEvent, StreamState } from "../../src/stream/state.ts";

type Check = NonNullable<Live["check"]>;

export const LIMITS = { maxBufferedBytes: 1000, replayTimeoutMs: 2000 };

/** A problem that no transition makes up by itself. */
export const PROBLEM = unsynchronized("event-malformed", 77);

const BATCH_BYTES = 10;

export const connecting = (attempt = 0): StreamState => ({ kind: "connecting", attempt });

export const waiting = (fields: Partial<Extract<StreamState, { kind: "waiting" }>> = {}): StreamState => ({
  kind: "waiting",
  attempt: 1,
  hasSubscriber: true,
  ...fields,
});

export const recovering = (recovery: Partial<Recovery> = {}, attempt = 0): StreamState => ({
  kind: "recovering",
  attempt,
  recovery: { held: null, watermark: null, ...recovery },
});

/** Settled, after batch 20. */
export const live = (fields: Partial<Live> = {}): Live => ({
  kind: "live",
  attempt: 0,
  batchSeq: 20,
  acceptsZero: false,
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

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UNSYNCHRONIZED_REASONS, unsynchronized } from "#domain";
import { NONE, type StreamEvent, type StreamState, type TransitionLimits } from "../../src/stream/state.ts";
import { transition } from "../../src/stream/transition.ts";
import { type AdoptionOutcome, ModelledStream } from "./modelled-stream.ts";
import { LIMITS, LIMITS_WITHOUT_REPLAY, REPLAY_LIMITS } from "./states.ts";

const SEED = Number(process.env.WARMPATH_TEST_SEED ?? Date.now() & 0x7fffffff);
console.info(`Seed ${SEED}; again: WARMPATH_TEST_SEED=${SEED} bun test test/stream/transition-properties.test.ts`);
const RUNS = { seed: SEED, numRuns: 2000 };

const batchSeq = fc.integer({ min: 0, max: 12 });
const bytes = fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constant(LIMITS.maxBufferedBytes + 1));
const problem = fc.constantFrom(...UNSYNCHRONIZED_REASONS).map((reason) => unsynchronized(reason, 1, 2));
const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("batch" as const),
      batchSeq,
      bytes,
      isRepeat: fc.boolean(),
      isFullState: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("snapshot" as const), watermark: batchSeq }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("replayed" as const), batchSeq, isKnown: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant<StreamEvent>({ type: "replay-applied" }) },
  { weight: 3, arbitrary: fc.constant<StreamEvent>({ type: "answer-end" }) },
  { weight: 3, arbitrary: fc.constant<StreamEvent>({ type: "connected" }) },
  { weight: 1, arbitrary: fc.constant<StreamEvent>({ type: "disconnected" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("timer" as const),
      timer: fc.constantFrom("answer" as const, "retry" as const, "resync" as const, "settle" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "handshake-broken-off" as const,
        "subscriber-lost" as const,
        "message-malformed" as const,
        "batch-failed" as const,
        "request-failed" as const,
        "adopt-failed" as const,
        "replay-apply-failed" as const,
      ),
      problem,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("adopted" as const), batchSeq, isEmpty: fc.boolean() }),
  },
);
const outcome = fc.constantFrom<AdoptionOutcome>("adopted", "adopted", "unfit", "unreadable");
/** Something that happens, with what an adoption would come to then; or all goes well until the stream is live, is checking, or has lost its connection once more. */
const step = fc.oneof(
  { weight: 14, arbitrary: fc.tuple(event, outcome) },
  { weight: 2, arbitrary: fc.constantFrom("live" as const, "checking" as const, "reconnecting" as const) },
);
const story = fc.array(step, { maxLength: 40 });
type Step = readonly [StreamEvent, AdoptionOutcome] | "live" | "checking" | "reconnecting";

const KINDS: TransitionLimits[] = [LIMITS, REPLAY_LIMITS, LIMITS_WITHOUT_REPLAY];

const run = fc
  .tuple(batchSeq, fc.nat(3), fc.integer({ min: 0, max: LIMITS.maxBufferedBytes }))
  .map(([first, more, heldBytes]) => ({ first, last: first + more, bytes: heldBytes }));
const recovery = fc.record({ held: fc.option(run), watermark: fc.option(batchSeq) });
const known = fc.oneof(fc.constant(NONE), batchSeq);
const anyState: fc.Arbitrary<StreamState> = fc.oneof(
  fc.record({ kind: fc.constant("connecting" as const), attempt: fc.nat(40), known }),
  fc.record({
    kind: fc.constant("replaying" as const),
    attempt: fc.nat(40),
    held: fc.option(run),
    position: known,
    isProven: fc.boolean(),
    hole: fc.option(batchSeq),
    answered: fc.constantFrom("now" as const, "before" as const, "never" as const),
    requests: fc.integer({ min: 1, max: 40 }),
    accepts: fc.constantFrom("next" as const, "any" as const),
  }),
  fc.record({ kind: fc.constant("recovering" as const), attempt: fc.nat(40), recovery }),
  fc.record({ kind: fc.constant("waiting" as const), attempt: fc.nat(40), hasSubscriber: fc.boolean(), known }),
  fc.record({
    kind: fc.constant("live" as const),
    attempt: fc.nat(40),
    batchSeq,
    accepts: fc.constantFrom("next" as const, "next-or-zero" as const, "any" as const),
    coveredAfter: fc.option(batchSeq),
    check: fc.option(
      fc.tuple(recovery, batchSeq).map(([{ held, watermark }, checkedFrom]) => ({ held, watermark, checkedFrom })),
    ),
  }),
);

/** Tells the story to a new stream, and what holds after every event of it. */
function tell(steps: readonly Step[], limits: TransitionLimits, holds: (stream: ModelledStream) => void): ModelledStream {
  const stream = new ModelledStream(limits);
  for (const next of steps) {
    if (typeof next === "string") goWell(stream);
    else {
      stream.nextAdoption = next[1];
      stream.feed(next[0]);
    }
    if (next === "checking") stream.feed({ type: "timer", timer: "resync" });
    if (next === "reconnecting") for (const type of ["disconnected", "connected"] as const) stream.feed({ type });
    holds(stream);
  }
  return stream;
}

/** Everything goes well from now on: whatever the stream waits for comes. Batches are those of an engine at rest. */
function goWell(stream: ModelledStream): void {
  stream.nextAdoption = "adopted";
  for (let turn = 0; turn < 4 && stream.state.kind !== "live"; turn++) {
    stream.feed({ type: "timer", timer: "retry" });
    stream.feed({ type: "connected" });
    answerSnapshot(stream);
    answerReplay(stream);
  }
  stream.feed({ type: "timer", timer: "settle" });
}

function answerSnapshot(stream: ModelledStream): void {
  if (stream.state.kind !== "recovering") return;
  const { held, watermark } = stream.state.recovery;
  if (watermark === null) stream.feed({ type: "snapshot", watermark: held?.last ?? 3 });
  stream.feed({ type: "answer-end" });
}

/** The publisher is the one that the stream knows, and has every batch. */
function answerReplay(stream: ModelledStream): void {
  const { state } = stream;
  if (state.kind !== "replaying") return;
  const lastNeeded = state.held === null ? Math.max(state.position, 3) : state.held.first - 1;
  for (let batchSeq = Math.max(state.position, 0); batchSeq <= lastNeeded; batchSeq++) {
    stream.feed({ type: "replayed", batchSeq, isKnown: batchSeq === stream.indexed });
  }
  for (let ends = 0; ends < 2; ends++) stream.feed({ type: "answer-end" });
}

describe.each(KINDS)("transition, recovery from $recovery", (limits) => {
  const isOften = { ...RUNS, numRuns: 10_000 };

  test("transition never throws, and changes neither state nor event", () => {
    fc.assert(
      fc.property(anyState, event, (state, next) => {
        const before = JSON.stringify([state, next]);
        transition(state, next, limits);
        expect(JSON.stringify([state, next])).toBe(before);
      }),
      isOften,
    );
  });

  test("transition becomes live only by an adoption", () => {
    fc.assert(
      fc.property(anyState, event, (state, next) => {
        const { state: after } = transition(state, next, limits);
        if (after.kind === "live" && state.kind !== "live") expect(next.type).toBe("adopted");
      }),
      isOften,
    );
  });

  test("transition leaves live only with a reason", () => {
    fc.assert(
      fc.property(anyState, event, (state, next) => {
        const { state: after, effects } = transition(state, next, limits);
        if (state.kind !== "live" || after.kind === "live") return;
        expect(effects.filter(({ type }) => type === "unsynchronize")).toHaveLength(1);
      }),
      isOften,
    );
  });

  test("transition is synchronized in live and nowhere else, whatever happens", () => {
    fc.assert(
      fc.property(story, (events) => {
        tell(events, limits, ({ state, isSynchronized }) => expect(isSynchronized).toBe(state.kind === "live"));
      }),
      RUNS,
    );
  });

  test("transition keeps something to wait for: an open subscriber, or a timer that asks or opens", () => {
    fc.assert(
      fc.property(story, (events) => {
        tell(events, limits, ({ state, timers, isSubscriberOpen, isAsking }) => {
          expect(isSubscriberOpen).toBe(!(state.kind === "waiting" && !state.hasSubscriber));
          expect(timers.has("retry")).toBe(state.kind === "waiting");
          const isChecking = state.kind === "live" && state.check !== null;
          const isRecovering = state.kind === "recovering" || state.kind === "replaying";
          expect(timers.has("answer")).toBe(isRecovering || isChecking);
          expect(isAsking).toBe(timers.has("answer"));
          expect(timers.has("resync")).toBe(limits.recovery === "snapshot" && state.kind === "live" && !isChecking);
          if (state.kind !== "live") expect(timers.has("settle")).toBe(false);
          else if (state.attempt > 0) expect(timers.has("settle")).toBe(true);
        });
      }),
      RUNS,
    );
  });

  test("transition holds what it says it holds, and never more than the limit", () => {
    fc.assert(
      fc.property(story, (events) => {
        const { heldBytesMost } = tell(events, limits, ({ state, heldBytes, held }) => {
          const run = heldBy(state);
          expect(heldBytes).toBe(run?.bytes ?? 0);
          expect([held[0] ?? NONE, held.at(-1) ?? NONE]).toEqual([run?.first ?? NONE, run?.last ?? NONE]);
        });
        expect(heldBytesMost).toBeLessThanOrEqual(LIMITS.maxBufferedBytes);
      }),
      RUNS,
    );
  });

  test("transition knows which batch's state the index holds, and applies and shows batches only right after it", () => {
    fc.assert(
      fc.property(story, (events) => {
        tell(events, limits, ({ state, indexed }) => {
          if (limits.recovery === "snapshot") return;
          if (state.kind === "live") expect(state.batchSeq).toBe(indexed);
          // After a batch that was passed over the index holds nothing, and is at that batch.
          else if (state.kind === "replaying") expect([state.position, NONE]).toContain(indexed);
          else if (state.kind !== "recovering" && state.known !== NONE) expect([state.known, NONE]).toContain(indexed);
        });
      }),
      RUNS,
    );
  });

  test("transition asks at most 32 times in one replay, whatever the answers are", () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 40, maxLength: 80 }), (events) => {
        const stream = new ModelledStream(limits);
        stream.feed({ type: "connected" });
        const replay = events.filter(({ type }) => type === "replayed" || type === "answer-end" || type === "batch");
        let asked = stream.requests;
        for (const next of [...replay, ...replay, ...replay]) {
          if (stream.state.kind !== "replaying") break;
          stream.feed(next);
          asked = stream.requests;
        }
        expect(asked).toBeLessThanOrEqual(2 * 32);
      }),
      RUNS,
    );
  });

  test("transition comes back to live as soon as all goes well, whatever happened before", () => {
    fc.assert(
      fc.property(story, (events) => {
        const stream = tell(events, limits, () => {});
        goWell(stream);
        expect(stream.state.kind).toBe("live");
      }),
      RUNS,
    );
  });

  test("The stories of these properties reach every state, checks and adoptions often", () => {
    const seen = new Map<string, number>();
    const note = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);
    for (const events of fc.sample(story, { seed: 1, numRuns: 1000 })) {
      const { adoptions } = tell(events, limits, ({ state }) => {
        note(state.kind === "live" && state.check !== null ? "checking" : state.kind);
        if (state.kind === "replaying" && !state.isProven) note("not proven");
      });
      if (adoptions > 0) note("adopted");
    }
    const reached = {
      snapshot: ["connecting", "recovering", "live", "checking", "waiting", "adopted"],
      replay: ["connecting", "replaying", "not proven", "live", "waiting", "adopted"],
      none: ["connecting", "live", "waiting", "adopted"],
    };
    for (const name of reached[limits.recovery]) {
      expect({ name, isOften: (seen.get(name) ?? 0) > 100 }).toEqual({ name, isOften: true });
    }
  });
});

function heldBy(state: StreamState) {
  switch (state.kind) {
    case "recovering":
      return state.recovery.held;
    case "replaying":
      return state.held;
    case "live":
      return state.check?.held ?? null;
    case "connecting":
    case "waiting":
      return null;
  }
}

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UNSYNCHRONIZED_REASONS, unsynchronized } from "#domain";
import type { StreamEvent, StreamState } from "../../src/stream/state.ts";
import { transition } from "../../src/stream/transition.ts";
import { type AdoptionOutcome, ModelledStream } from "./modelled-stream.ts";
import { LIMITS } from "./states.ts";

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
  { weight: 3, arbitrary: fc.constant<StreamEvent>({ type: "snapshot-end" }) },
  { weight: 3, arbitrary: fc.constant<StreamEvent>({ type: "connected" }) },
  { weight: 1, arbitrary: fc.constant<StreamEvent>({ type: "disconnected" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("timer" as const),
      timer: fc.constantFrom("snapshot" as const, "retry" as const, "resync" as const, "settle" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "subscriber-lost" as const,
        "message-malformed" as const,
        "batch-failed" as const,
        "snapshot-failed" as const,
        "adopt-failed" as const,
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
/** Something that happens, with what an adoption would come to then; or all goes well until the stream is live, or is checking. */
const step = fc.oneof(
  { weight: 14, arbitrary: fc.tuple(event, outcome) },
  { weight: 1, arbitrary: fc.constantFrom("live" as const, "checking" as const) },
);
const story = fc.array(step, { maxLength: 40 });
type Step = readonly [StreamEvent, AdoptionOutcome] | "live" | "checking";

const run = fc
  .tuple(batchSeq, fc.nat(3), fc.integer({ min: 0, max: LIMITS.maxBufferedBytes }))
  .map(([first, more, heldBytes]) => ({ first, last: first + more, bytes: heldBytes }));
const recovery = fc.record({ held: fc.option(run), watermark: fc.option(batchSeq) });
const anyState: fc.Arbitrary<StreamState> = fc.oneof(
  fc.record({ kind: fc.constant("connecting" as const), attempt: fc.nat(40) }),
  fc.record({ kind: fc.constant("recovering" as const), attempt: fc.nat(40), recovery }),
  fc.record({ kind: fc.constant("waiting" as const), attempt: fc.nat(40), hasSubscriber: fc.boolean() }),
  fc.record({
    kind: fc.constant("live" as const),
    attempt: fc.nat(40),
    batchSeq,
    acceptsZero: fc.boolean(),
    coveredAfter: fc.option(batchSeq),
    check: fc.option(
      fc.tuple(recovery, batchSeq).map(([{ held, watermark }, checkedFrom]) => ({ held, watermark, checkedFrom })),
    ),
  }),
);

/** Tells the story to a new stream, and what holds after every event of it. */
function tell(steps: readonly Step[], holds: (stream: ModelledStream) => void): ModelledStream {
  const stream = new ModelledStream();
  for (const next of steps) {
    if (next === "live" || next === "checking") goWell(stream);
    else {
      stream.nextAdoption = next[1];
      stream.feed(next[0]);
    }
    if (next === "checking") stream.feed({ type: "timer", timer: "resync" });
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
    if (stream.state.kind !== "recovering") continue;
    const { held, watermark } = stream.state.recovery;
    if (watermark === null) stream.feed({ type: "snapshot", watermark: held?.last ?? 3 });
    stream.feed({ type: "snapshot-end" });
  }
  stream.feed({ type: "timer", timer: "settle" });
}

describe("transition", () => {
  test("transition never throws, and changes neither state nor event", () => {
    fc.assert(
      fc.property(anyState, event, (state, next) => {
        const before = JSON.stringify([state, next]);
        transition(state, next, LIMITS);
        expect(JSON.stringify([state, next])).toBe(before);
      }),
      { ...RUNS, numRuns: 20_000 },
    );
  });

  test("transition becomes live only by an adoption", () => {
    fc.assert(
      fc.property(anyState, event, (state, next) => {
        const { state: after } = transition(state, next, LIMITS);
        if (after.kind === "live" && state.kind !== "live") expect(next.type).toBe("adopted");
      }),
      { ...RUNS, numRuns: 20_000 },
    );
  });

  test("transition leaves live only with a reason", () => {
    fc.assert(
      fc.property(anyState, event, (state, next) => {
        const { state: after, effects } = transition(state, next, LIMITS);
        if (state.kind !== "live" || after.kind === "live") return;
        expect(effects.filter(({ type }) => type === "unsynchronize")).toHaveLength(1);
      }),
      { ...RUNS, numRuns: 20_000 },
    );
  });

  test("transition is synchronized in live and nowhere else, whatever happens", () => {
    fc.assert(
      fc.property(story, (events) => {
        tell(events, ({ state, isSynchronized }) => expect(isSynchronized).toBe(state.kind === "live"));
      }),
      RUNS,
    );
  });

  test("transition keeps something to wait for: an open subscriber, or a timer that asks or opens", () => {
    fc.assert(
      fc.property(story, (events) => {
        tell(events, ({ state, timers, isSubscriberOpen, isAsking }) => {
          expect(isSubscriberOpen).toBe(!(state.kind === "waiting" && !state.hasSubscriber));
          expect(timers.has("retry")).toBe(state.kind === "waiting");
          const isChecking = state.kind === "live" && state.check !== null;
          expect(timers.has("snapshot")).toBe(state.kind === "recovering" || isChecking);
          expect(isAsking).toBe(timers.has("snapshot"));
          expect(timers.has("resync")).toBe(state.kind === "live" && !isChecking);
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
        const { heldBytesMost } = tell(events, ({ state, heldBytes }) => {
          const recoveryAtWork = state.kind === "recovering" ? state.recovery : state.kind === "live" ? state.check : null;
          expect(heldBytes).toBe(recoveryAtWork?.held?.bytes ?? 0);
        });
        expect(heldBytesMost).toBeLessThanOrEqual(LIMITS.maxBufferedBytes);
      }),
      RUNS,
    );
  });

  test("transition comes back to live as soon as all goes well, whatever happened before", () => {
    fc.assert(
      fc.property(story, (events) => {
        const stream = tell(events, () => {});
        goWell(stream);
        expect(stream.state.kind).toBe("live");
      }),
      RUNS,
    );
  });

  test("The stories of these properties reach every state, checks and adoptions often", () => {
    const seen = new Map<string, number>();
    const note = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);
    for (const events of fc.sample(story, { seed: 1, numRuns: 500 })) {
      const { adoptions } = tell(events, ({ state }) => {
        note(state.kind === "live" && state.check !== null ? "checking" : state.kind);
      });
      if (adoptions > 0) note("adopted");
    }
    for (const name of ["connecting", "recovering", "live", "checking", "waiting", "adopted"]) {
      expect({ name, isOften: (seen.get(name) ?? 0) > 100 }).toEqual({ name, isOften: true });
    }
  });
});

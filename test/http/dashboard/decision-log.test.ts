import { describe, expect, test } from "bun:test";
import { DecisionLog } from "#http";
import type { Decision } from "#routing";
import { FakeClock } from "../../support/fake-clock.ts";
import { type CandidateShape, placed, refused } from "./decisions.ts";

const ORIGIN_MS = 1_700_000_000_000;

/** A log on a clock that stands at `ORIGIN_MS`, and what notes a decision in it. */
function createLog() {
  const clock = new FakeClock();
  const log = new DecisionLog(clock, ORIGIN_MS);
  const note = (decision: Decision | "busy", tokenCount = 100, requestId = "request") =>
    log.note(decision, { requestId, tokenCount, namespace: null });
  return { clock, log, note };
}

describe("DecisionLog", () => {
  test("keeps a decision with its number, its time and no token", () => {
    const { clock, log, note } = createLog();
    const decision = placed([{ name: "a:1" }]);
    clock.advance(1500);
    note(decision, 64, "first");
    expect(log.decisionsAfter(0)).toEqual([{ number: 1, atMs: ORIGIN_MS + 1500, requestId: "first", tokenCount: 64, decision }]);
  });

  test("does not count what the index was too busy for", () => {
    const { log, note } = createLog();
    note("busy");
    expect(log.decisionsAfter(0)).toEqual([]);
    expect(log.samplesFrom(0)).toEqual([]);
  });

  test("keeps the last hundred decisions, oldest first", () => {
    const { log, note } = createLog();
    for (let number = 1; number <= 130; number++) note(placed([{ name: "a:1" }]));
    expect(log.decisionsAfter(0).map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => index + 31));
    expect(log.decisionsAfter(128).map(({ number }) => number)).toEqual([129, 130]);
  });

  test("keeps fewer decisions of a large fleet, and the last one of any", () => {
    const { log, note } = createLog();
    const many: CandidateShape[] = Array.from({ length: 6000 }, (_, index) => ({ name: `a:${index}` }));
    for (let number = 1; number <= 5; number++) note(placed(many));
    expect(log.decisionsAfter(0).map(({ number }) => number)).toEqual([3, 4, 5]);
    note(placed(Array.from({ length: 30_000 }, (_, index) => ({ name: `a:${index}` }))));
    expect(log.decisionsAfter(0).map(({ number }) => number)).toEqual([6]);
  });

  test("sums decisions, refusals and the hits of the chosen over two seconds", () => {
    const { clock, log, note } = createLog();
    note(
      placed([
        { name: "a:1", device: 40, hostOnly: 20, diskOnly: 10 },
        { name: "b:1", device: 100 },
      ]),
      100,
    );
    note(placed([{ name: "a:1", device: 10 }]), 50);
    note(refused([{ name: "a:1" }]), 1000);
    clock.advance(2000);
    note(placed([{ name: "a:1" }]), 7);
    expect(log.samplesFrom(0)).toEqual([
      {
        at_ms: ORIGIN_MS,
        decisions: 3,
        refused: 1,
        prompt_tokens: 150,
        device_hit_tokens: 50,
        host_only_hit_tokens: 20,
        disk_only_hit_tokens: 10,
      },
      {
        at_ms: ORIGIN_MS + 2000,
        decisions: 1,
        refused: 0,
        prompt_tokens: 7,
        device_hit_tokens: 0,
        host_only_hit_tokens: 0,
        disk_only_hit_tokens: 0,
      },
    ]);
    expect(log.samplesFrom(ORIGIN_MS + 1).map(({ at_ms: atMs }) => atMs)).toEqual([ORIGIN_MS + 2000]);
  });

  test("says nothing of hits where the policy does not look at them", () => {
    const { log, note } = createLog();
    note(placed([{ name: "a:1", isUnmatched: true }]), 100);
    expect(log.samplesFrom(0)).toMatchObject([{ decisions: 1, prompt_tokens: 0, device_hit_tokens: 0 }]);
  });

  test("forgets what is older than ten minutes", () => {
    const { clock, log, note } = createLog();
    for (let second = 0; second < 1300; second++) {
      note(placed([{ name: "a:1" }]));
      clock.advance(1000);
    }
    const samples = log.samplesFrom(0);
    expect(samples.length).toBeLessThanOrEqual(300);
    expect(samples[0]?.at_ms).toBeGreaterThanOrEqual(ORIGIN_MS + 1_300_000 - 600_000);
    clock.advance(600_000);
    expect(log.samplesFrom(0)).toEqual([]);
  });
});

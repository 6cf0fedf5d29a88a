import { describe, expect, test } from "bun:test";
import { decisionLines } from "../../src/cli/explain-view.ts";
import type { DecisionAnswer } from "../../src/http/route/schema.ts";
import { PIPE } from "./recording-terminal.ts";

type Candidate = NonNullable<DecisionAnswer["candidates"]>[number];

function candidate(name: string, changes: Partial<Candidate> = {}): Candidate {
  return {
    instance_name: name,
    role: "DEFAULT",
    current_role: "DEFAULT",
    side: "prefill",
    kv_hit_ratio: 0,
    device_hit_tokens: 0,
    host_only_hit_tokens: 0,
    disk_only_hit_tokens: 0,
    predicted_hit_tokens: 0,
    waiting_requests: 0,
    in_flight_requests: 0,
    gpu_cache_usage_perc: 0,
    queue_cost: 0,
    score: 0.5,
    excluded: null,
    uncredited: null,
    ...changes,
  };
}

function decision(prefill: string, decode: string | null, candidates: Candidate[], changes: Partial<DecisionAnswer> = {}) {
  const chosen = (name: string) => ({ instance_name: name, address: name, kv_hit_ratio: 0, queue_cost: 0, score: 0 });
  return decisionLines(
    {
      policy: "CAR",
      request_id: "r",
      prefill: chosen(prefill),
      decode: decode === null ? null : chosen(decode),
      candidates,
      flip: null,
      dry_run: true,
      ...changes,
    },
    1024,
    PIPE,
  );
}

describe("decisionLines", () => {
  test("decisionLines says that equals take turns, and when there is no other", () => {
    expect(decision("a", null, [candidate("a"), candidate("b")]).slice(0, 2)).toEqual([
      "It would go to a, which decodes it too; CAR, 1,024 tokens",
      "Prefill: equal to b, equals take turns",
    ]);
    expect(decision("a", null, [candidate("a")])[1]).toBe("No other instance may prefill");
  });

  test("decisionLines counts what a report cannot know of, and what is expected to be held", () => {
    const sent = candidate("a", {
      waiting_requests: 2,
      in_flight_requests: 3,
      disk_only_hit_tokens: 128,
      predicted_hit_tokens: 256,
    });
    expect(decision("a", null, [sent])).toContain(
      "  holds of 1,024 tokens: 128 on disk only, 256 expected of what was sent there a moment ago; 2 requests waiting, " +
        "3 more sent there since its report",
    );
    expect(decision("a", null, [candidate("a")])).toContain("  holds nothing of it; 0 requests waiting");
  });

  test("decisionLines has RR's instances without numbers", () => {
    const lines = decision("b", null, [candidate("a", { score: null }), candidate("b", { score: null })], { policy: "RR" });
    expect(lines).toEqual([
      "It would go to b, which decodes it too; RR, 1,024 tokens",
      "",
      "PREFILL",
      "a",
      "b        ← prefill",
      "",
      "RR: each in turn, neither cache nor load is looked at",
    ]);
  });

  test("decisionLines marks a decode instance of SLO_AWARE that is to prefill, and tells of a flip", () => {
    const candidates = [
      candidate("d", { side: "decode", score: 12.4 }),
      candidate("e", { side: "decode", score: 9 }),
      candidate("m", { score: 2000 }),
    ];
    const lines = decision("e", "d", candidates, { policy: "SLO_AWARE", flip: { instance_name: "m", to: "DECODE" } });
    expect(lines.slice(0, 9)).toEqual([
      "It would go to e for prefill, then to d for decode; SLO_AWARE, 1,024 tokens",
      "With it m would change to the side of DECODE",
      "",
      "PREFILL  MS LEFT",
      "m          2,000",
      "",
      "DECODE  MS A TOKEN",
      "e            9.000  ← prefill",
      "d               12  ← decode",
    ]);
  });
});

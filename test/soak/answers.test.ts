import { describe, expect, test } from "bun:test";
import { checkDecision, checkMatches, type QueryMatch } from "./answers.ts";

const MATCH: QueryMatch = {
  synchronized: true,
  device_hit_tokens: 32,
  host_only_hit_tokens: 16,
  disk_only_hit_tokens: 0,
  reusable_prefix_tokens: 48,
  error: null,
};

describe("checkMatches", () => {
  const check = (change: Partial<QueryMatch>, tokenCount = 64) =>
    checkMatches({ matches: [{ ...MATCH, ...change }] }, tokenCount);

  test("finds nothing wrong with a good answer", () => {
    expect(check({})).toBeNull();
  });

  test("finds sums that do not add up, and more than was asked for", () => {
    expect(check({ disk_only_hit_tokens: 16 })).toBe("48 of 64 tokens are reusable, 64 by tier");
    expect(check({}, 32)).toBe("48 of 32 tokens are reusable, 48 by tier");
  });

  test("finds hits of a stream that is not synchronized, and one without a reason", () => {
    expect(check({ synchronized: false, error: "gap" })).toBe("48 tokens are reusable where the stream is not synchronized");
    expect(check({ synchronized: false })).toBe("synchronized is false and the error null");
  });
});

describe("checkDecision", () => {
  const prefill = { instance_name: "a:1", kv_hit_ratio: 0.5 };

  test("finds nothing wrong with a good decision, explained or not", () => {
    expect(checkDecision({ prefill })).toBeNull();
    expect(checkDecision({ prefill, candidates: [{ instance_name: "a:1", excluded: null }] })).toBeNull();
  });

  test("finds a choice that is no candidate, one that may not serve, and a ratio that is none", () => {
    expect(checkDecision({ prefill, candidates: [] })).toBe("the chosen instance is no candidate");
    const suspect = [{ instance_name: "a:1", excluded: "it is SUSPECT" }];
    expect(checkDecision({ prefill, candidates: suspect })).toBe("an instance was chosen that may not serve: it is SUSPECT");
    expect(checkDecision({ prefill: { ...prefill, kv_hit_ratio: 1.5 } })).toBe("the hit ratio is 1.5");
  });
});

import { describe, expect, test } from "bun:test";
import { judge } from "../../../src/routing/eligibility.ts";
import { decodeScore } from "../../../src/routing/scoring/decode.ts";
import { prefillScore } from "../../../src/routing/scoring/prefill.ts";
import { queueCost, setQueueCosts } from "../../../src/routing/scoring/queue.ts";
import { instance, load } from "../scene.ts";

describe("prefillScore", () => {
  test.each([
    [0.75, 0.2, 0.5, 0.225],
    [0.75, 0.2, 0, 0.2],
    [0.75, 0.2, 1, 0.25],
    [0, 1, 0.5, 1],
    [1, 0, 0.5, 0],
    [0.5, 0.5, 0.25, 0.5],
  ])("prefillScore of hit ratio %d and queue cost %d at λ %d is %d", (kvHitRatio, cost, lambda, expected) => {
    expect(prefillScore(kvHitRatio, cost, lambda)).toBeCloseTo(expected, 12);
  });
});

test("decodeScore adds the cache in use and the queue cost", () => {
  expect(decodeScore(0.25, 0.5)).toBe(0.75);
  expect(decodeScore(1, 1)).toBe(2);
  expect(decodeScore(0, 0)).toBe(0);
});

describe("queueCost", () => {
  test("queueCost is the share of the longest queue, and 0 when nothing waits", () => {
    expect(queueCost(1, 4)).toBe(0.25);
    expect(queueCost(4, 4)).toBe(1);
    expect(queueCost(0, 0)).toBe(0);
  });

  test("setQueueCosts counts requests in flight as waiting", () => {
    const loads = { a: load(1), b: load(4) };
    const { prefill } = judge([instance("a"), instance("b")], ({ registration }) => loads[registration.name as "a" | "b"]);
    prefill[0].inFlightRequests = 7;
    setQueueCosts(prefill);
    expect(prefill.map((candidate) => candidate.queueCost)).toEqual([1, 0.5]);
  });
});

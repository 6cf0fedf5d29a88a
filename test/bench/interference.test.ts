import { expect, test } from "bun:test";
import { watchInterference } from "./interference.ts";

/** A clock that advances by these steps, one a look, again and again. */
function steppingClock(steps: number[]): () => number {
  let looks = 0;
  let nowMs = 0;
  return () => {
    nowMs += steps[looks++ % steps.length];
    return nowMs;
  };
}

test("watchInterference adds up what a loop lost, and tells the longest pause", () => {
  const steps = [...Array(50).fill(1 / 64), 2, ...Array(50).fill(1 / 64), 4];
  const { lostShare, longestPauseMs } = watchInterference(1000, steppingClock(steps));
  expect(lostShare).toBeCloseTo(6 / (6 + 100 / 64), 2);
  expect(longestPauseMs).toBe(4);
});

test("watchInterference finds nothing lost where the clock advances evenly", () => {
  expect(watchInterference(10, steppingClock([1 / 64]))).toEqual({ lostShare: 0, longestPauseMs: 0 });
});

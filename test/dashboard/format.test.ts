import { expect, test } from "bun:test";
import { formatCount, formatCounted, formatDuration, formatScore, formatShare } from "../../src/dashboard/format.ts";

test.each([
  [0, "0 %"],
  [0.004, "<1 %"],
  [0.734, "73 %"],
  [0.996, ">99 %"],
  [1, "100 %"],
])("formatShare shows %p as %p", (share, text) => {
  expect(formatShare(share)).toBe(text);
});

test.each([
  [0, "0.0 s"],
  [9949, "9.9 s"],
  [9960, "10 s"],
  [90_000, "90 s"],
  [150_000, "3 min"],
  [7_200_000, "2 h"],
  [259_200_000, "3 d"],
])("formatDuration shows %p ms as %p", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [null, "–"],
  [0.2849, "0.285"],
  [1234.4, "1,234"],
])("formatScore shows %p as %p", (score, text) => {
  expect(formatScore(score)).toBe(text);
});

test("formatCount groups digits, and formatCounted counts nouns", () => {
  expect(formatCount(1_234_567)).toBe("1,234,567");
  expect([0, 1, 2].map((count) => formatCounted(count, "stream"))).toEqual(["0 streams", "1 stream", "2 streams"]);
});

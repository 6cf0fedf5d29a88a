import { expect, test } from "bun:test";
import { formatCounted, formatDuration, formatScore, formatShare, formatShortCount } from "../../src/cli/figures.ts";

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1.0k"],
  [9949, "9.9k"],
  [9950, "10k"],
  [262_144, "262k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
  [33_554_432, "34M"],
])("formatShortCount writes %d as %s", (count, text) => expect(formatShortCount(count)).toBe(text));

test.each([
  [0, "0%"],
  [0.004, "<1%"],
  [0.5, "50%"],
  [0.999, ">99%"],
  [1, "100%"],
])("formatShare writes %d as %s", (share, text) => expect(formatShare(share)).toBe(text));

test.each([
  [0, "0.0s"],
  [9949, "9.9s"],
  [9950, "10s"],
  [99_500, "2m"],
  [7_200_000, "2h"],
  [172_800_000, "2d"],
])("formatDuration writes %d ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

test("formatScore writes small scores by thousandths, milliseconds whole, and none as a dash", () => {
  expect([formatScore(0.2256), formatScore(1234.4), formatScore(null)]).toEqual(["0.226", "1,234", "–"]);
});

test("formatCounted knows one from many", () => {
  expect([formatCounted(1, "stream"), formatCounted(2000, "stream")]).toEqual(["1 stream", "2,000 streams"]);
});

import { describe, expect, test } from "bun:test";
import { parseGoDuration } from "../../src/client/lib/go-duration.ts";

describe("parseGoDuration", () => {
  test.each([
    ["100ms", 100],
    ["1.5s", 1500],
    ["1m30s", 90_000],
    ["2h", 7_200_000],
    [".5s", 500],
    ["1.s", 1000],
    ["250us", 0.25],
    ["250µs", 0.25],
    ["0", 0],
    ["0s", 0],
  ])("parseGoDuration reads %p as %p ms", (text, durationMs) => {
    expect(parseGoDuration(text)).toBeCloseTo(durationMs, 9);
  });

  test.each(["", "100", "ms", "1 s", "1s ", "-1s", "1d", "1s30", "1,5s", "1e3ms", ".s", "Infinitys"])(
    "parseGoDuration refuses %p",
    (text) => {
      expect(parseGoDuration(text)).toBeNull();
    },
  );
});

import { describe, expect, test } from "bun:test";
import { comparisonTable, hasGrown, mayGrow, NOTHING, type Quantity } from "./comparison.ts";

function quantity(before: number | null, after: number | null, allowance = NOTHING): Quantity {
  return { name: "sockets", unit: "count", allowance, before, after };
}

describe("hasGrown", () => {
  test("finds one more where nothing may grow, and neither as many nor fewer", () => {
    expect([11, 10, 9].map((after) => hasGrown(quantity(10, after)))).toEqual([true, false, false]);
  });

  test("finds what is beyond the share and the amount together", () => {
    const allowance = mayGrow(0.1, 5, "chance");
    expect(hasGrown(quantity(100, 115, allowance))).toBe(false);
    expect(hasGrown(quantity(100, 116, allowance))).toBe(true);
  });

  test("says nothing of what nobody can see", () => {
    expect(hasGrown(quantity(null, 7))).toBe(false);
    expect(hasGrown(quantity(7, null))).toBe(false);
  });
});

describe("comparisonTable", () => {
  test("shows each quantity with its limit and a verdict", () => {
    const memory: Quantity = {
      name: "memory",
      unit: "bytes",
      allowance: mayGrow(0.5, 0, "chance"),
      before: 2 ** 20,
      after: 2 ** 20,
    };
    const rows = comparisonTable([memory, quantity(1, 2), quantity(null, null)])
      .split("\n")
      .slice(2);
    expect(rows).toEqual([
      "| memory | 1.0 MiB | 1.0 MiB | 1.5 MiB | ok | chance |",
      "| sockets | 1 | 2 | 1 | HAS GROWN | none |",
      "| sockets |  |  |  | not visible | none |",
    ]);
  });
});

import { describe, expect, test } from "bun:test";
import { schedule } from "../../../src/routing/slo/schedule.ts";

const TARGETS = { targetTtftMs: 1000, targetTpotMs: 50 };

/** Prefill options by EPT, the first of them chosen; decode options by [e, EPT]. Names are `p0`, `p1`, … and `d0`, `d1`, … */
function outcome(
  prefillMs: readonly number[],
  decodeMs: readonly (readonly [tpotMs: number, prefillMs: number])[],
  targets = TARGETS,
) {
  const prefill = prefillMs.map((estimatedPrefillMs, position) => ({ name: `p${position}`, estimatedPrefillMs }));
  const decode = decodeMs.map(([tpotMs, estimatedPrefillMs], position) => ({ name: `d${position}`, tpotMs, estimatedPrefillMs }));
  const result = schedule(prefill[0], prefill, decode, targets);
  return [result.prefill.name, result.decode.name, result.isFlipWanted];
}

describe("schedule", () => {
  test.each([
    [
      "decodes on the first in time, not on the fastest",
      [0],
      [
        [40, 0],
        [10, 0],
      ],
      ["p0", "d0", false],
    ],
    [
      "passes over those that are late",
      [0],
      [
        [60, 0],
        [49, 0],
        [10, 0],
      ],
      ["p0", "d1", false],
    ],
    ["takes exactly the target as in time", [0], [[50, 0]], ["p0", "d0", false]],
    [
      "does not round a late one down",
      [0],
      [
        [50.4, 0],
        [20, 0],
      ],
      ["p0", "d1", false],
    ],
    [
      "decodes on the fastest when none is in time",
      [0],
      [
        [60, 0],
        [55, 0],
        [70, 0],
      ],
      ["p0", "d1", false],
    ],
  ] as const)("schedule %s", (_, prefill, decode, expected) => {
    expect(outcome(prefill, decode)).toEqual([...expected]);
  });

  test.each([
    [
      "when prefill is late and it has time",
      [1200],
      [
        [40, 0],
        [24.9, 0],
      ],
      "d1",
    ],
    [
      "when it prefills already, but less",
      [1200],
      [
        [40, 0],
        [20, 1199],
      ],
      "d1",
    ],
    [
      "not when prefill is in time to the millisecond",
      [1000],
      [
        [40, 0],
        [20, 0],
      ],
      "p0",
    ],
    [
      "but when prefill is late by a fraction",
      [1000.5],
      [
        [40, 0],
        [20, 0],
      ],
      "d1",
    ],
    [
      "not when it is itself the one to decode",
      [1200],
      [
        [10, 0],
        [40, 0],
      ],
      "p0",
    ],
    // 50·(2−1)/2.
    [
      "not when its share of time is used up",
      [1200],
      [
        [40, 0],
        [25, 0],
      ],
      "p0",
    ],
    [
      "not when it has as much to prefill",
      [1200],
      [
        [40, 0],
        [20, 1200],
      ],
      "p0",
    ],
    ["not when it is the only one", [1200], [[20, 0]], "p0"],
  ] as const)("schedule prefills on the fastest decode instance %s", (_, prefill, decode, expected) => {
    expect(outcome(prefill, decode)).toEqual([expected, "d0", false]);
  });

  test.each([
    // 150 < 1000·(2−1)/2.
    [
      "prefill has time",
      [100, 200],
      [
        [60, 0],
        [60, 0],
      ],
      true,
    ],
    [
      "prefill has exactly no time",
      [500, 500],
      [
        [60, 0],
        [60, 0],
      ],
      false,
    ],
    [
      "prefill has no time, but more instances",
      [900, 900, 900],
      [
        [60, 0],
        [60, 0],
      ],
      true,
    ],
    [
      "prefill has no time, and as many instances",
      [900, 900, 900],
      [
        [60, 0],
        [60, 0],
        [60, 0],
      ],
      false,
    ],
    ["only one prefills", [0], [[60, 0]], false],
    [
      "somebody decodes in time",
      [100, 200],
      [
        [60, 0],
        [50, 0],
      ],
      false,
    ],
  ] as const)("schedule says whether a flip is wanted where %s", (_, prefill, decode, expected) => {
    expect(outcome(prefill, decode)[2]).toBe(expected);
  });

  test("schedule keeps to its targets", () => {
    expect(
      outcome(
        [1200],
        [
          [40, 0],
          [20, 0],
        ],
        { targetTtftMs: 1300, targetTpotMs: 30 },
      ),
    ).toEqual(["p0", "d1", false]);
  });
});

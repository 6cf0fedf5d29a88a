import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { tpotCurve, ttftCurve } from "../../../src/routing/slo/curves.ts";
import { leastSquares } from "../../../src/routing/slo/least-squares.ts";

describe("leastSquares", () => {
  test("leastSquares solves a system that has a solution", () => {
    // c0 = 5, c1 = 2, c2 = 0.01.
    const columns = [
      [1, 1, 1, 1],
      [1, 2, 1, 4],
      [100, 200, 200, 200],
    ];
    const [constant, first, second] = leastSquares(columns, [8, 11, 9, 15]);
    expect(constant).toBeCloseTo(5, 9);
    expect(first).toBeCloseTo(2, 9);
    expect(second).toBeCloseTo(0.01, 9);
  });

  test("leastSquares finds the nearest where there is no solution", () => {
    // The line through (0, 0), (1, 1), (2, 0), (3, 1): slope Σuv/Σu² = 1/5, through the middle (1.5, 0.5).
    const [constant, slope] = leastSquares(
      [
        [1, 1, 1, 1],
        [0, 1, 2, 3],
      ],
      [0, 1, 0, 1],
    );
    expect(constant).toBeCloseTo(0.2, 12);
    expect(slope).toBeCloseTo(0.2, 12);
  });

  test("leastSquares gives 0 to a column that depends on those before, and to all without values", () => {
    const columns = [
      [1, 1],
      [3, 3],
      [0, 0],
    ];
    const [constant, ...others] = leastSquares(columns, [4, 6]);
    expect(constant).toBeCloseTo(5, 12);
    expect(others).toEqual([0, 0]);
    expect(leastSquares([[], []], [])).toEqual([0, 0]);
  });
});

describe("ttftCurve", () => {
  test("ttftCurve is the parabola through three samples, in real numbers", () => {
    // 10 + 0.1·n + 0.001·n².
    const curve = ttftCurve([
      [0, 10],
      [100, 30],
      [200, 70],
    ]);
    expect(curve(150)).toBeCloseTo(47.5, 9);
    expect(curve(0)).toBeCloseTo(10, 9);
    expect(curve(1000)).toBeCloseTo(1110, 6);
  });

  test("ttftCurve goes between samples that contradict each other", () => {
    const curve = ttftCurve([
      [0, 0],
      [1, 1],
      [2, 0],
      [3, 1],
    ]);
    for (const promptTokens of [0, 1, 10]) expect(curve(promptTokens)).toBeCloseTo(0.2 + 0.2 * promptTokens, 9);
  });

  test("ttftCurve is a line through two lengths, however often they were measured", () => {
    const curve = ttftCurve([
      [100, 10],
      [100, 20],
      [200, 40],
    ]);
    expect(curve(100)).toBeCloseTo(15, 9);
    expect(curve(300)).toBeCloseTo(65, 9);
  });

  test("ttftCurve is a constant from one length, and 0 without samples", () => {
    const curve = ttftCurve([
      [100, 10],
      [100, 20],
    ]);
    expect([curve(0), curve(5000)].map((ms) => Math.round(ms * 1e9) / 1e9)).toEqual([15, 15]);
    expect(ttftCurve([])(1000)).toBe(0);
    expect(ttftCurve([[0, 7]])(1000)).toBeCloseTo(7, 9);
  });

  test("ttftCurve is never negative", () => {
    const falling = ttftCurve([
      [100, 10],
      [200, 40],
    ]);
    expect(falling(20)).toBe(0);
  });

  test("ttftCurve finds the parabola that made its samples, of short prompts and of long ones", () => {
    const coefficient = fc.double({ min: 0, max: 100, noNaN: true });
    const lengths = fc.uniqueArray(fc.integer({ min: 1, max: 64 }), { minLength: 3, maxLength: 20 });
    const property = fc.property(
      coefficient,
      coefficient,
      coefficient,
      lengths,
      fc.constantFrom(1, 16, 16_384),
      (c0, c1, c2, steps, scale) => {
        const made = (n: number) => c0 + (c1 * n) / (64 * scale) + c2 * (n / (64 * scale)) ** 2;
        const curve = ttftCurve(steps.map((step) => [step * scale, made(step * scale)]));
        for (const step of [1, 30, 64]) expect(curve(step * scale)).toBeCloseTo(made(step * scale), 3);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});

describe("tpotCurve", () => {
  test("tpotCurve is linear in the requests and in their tokens, the one being made left out", () => {
    // 5 + 2·b + 0.01·b·(average − 1).
    const curve = tpotCurve([
      [101, 1, 8],
      [101, 2, 11],
      [201, 1, 9],
      [51, 4, 15],
    ]);
    expect(curve(300, 3)).toBeCloseTo(14, 9);
  });

  test("tpotCurve does with fewer terms what its samples tell", () => {
    expect(tpotCurve([])(100, 1)).toBe(0);
    expect(tpotCurve([[101, 1, 8]])(9999, 99)).toBeCloseTo(8, 9);
    // One batch size: 7 + 0.01·L.
    const oneBatch = tpotCurve([
      [101, 1, 8],
      [201, 1, 9],
    ]);
    expect(oneBatch(300, 9)).toBeCloseTo(10, 9);
    // Two samples that differ in both: what they differ by is put on the requests.
    const two = tpotCurve([
      [101, 1, 8],
      [101, 2, 11],
    ]);
    expect(two(12345, 3)).toBeCloseTo(14, 9);
  });

  test("tpotCurve is never negative", () => {
    const curve = tpotCurve([
      [1, 1, 10],
      [1, 2, 5],
    ]);
    expect(curve(0, 9)).toBe(0);
  });
});

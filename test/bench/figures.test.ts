import { describe, expect, test } from "bun:test";
import { Checksum } from "./checksum.ts";
import { measureLatency, medianFigure, quantile } from "./figures.ts";
import { atMost } from "./question.ts";

describe("figures", () => {
  test("quantile takes the sample at the share, whatever the order of samples", () => {
    const samples = [30, 10, 50, 20, 40];
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => quantile(samples, share))).toEqual([10, 20, 30, 40, 50]);
    expect(samples).toEqual([30, 10, 50, 20, 40]);
    expect(quantile([7], 0.99)).toBe(7);
  });

  test("medianFigure is not moved by one slow sample", () => {
    expect(medianFigure([2, 1000, 1], "ms")).toEqual({ label: "median", value: 2, unit: "ms", target: null });
  });

  test("measureLatency prepares an input for every call and gives p50 and p99 with their targets", async () => {
    const inputs: number[] = [];
    let prepared = 0;
    const prepare = () => ++prepared;
    const [p50, p99] = await measureLatency(prepare, (input) => inputs.push(input), 0.1, { p99: atMost(5) });
    expect(inputs).toEqual(Array.from({ length: prepared }, (_, n) => n + 1));
    expect(inputs.length).toBeGreaterThan(10);
    expect(p50).toMatchObject({ label: "p50", unit: "us", target: null });
    expect(p99).toMatchObject({ label: "p99", unit: "us", target: atMost(5) });
    expect(p99.value).toBeGreaterThanOrEqual(p50.value);
  });
});

describe("Checksum", () => {
  test("Checksum depends on values and on their order", () => {
    const sums = [[], [0], [1], [1, 2], [2, 1]].map((values) => new Checksum().add(...values).toString());
    expect(new Set(sums).size).toBe(sums.length);
    for (const sum of sums) expect(sum).toMatch(/^[0-9a-f]{8}$/);
  });

  test("Checksum is the same for values that come in parts", () => {
    expect(new Checksum().add(1).add(2).toString()).toBe(new Checksum().add(1, 2).toString());
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PredictedResidency } from "../../src/routing/predicted-residency.ts";
import { promptKeys } from "../../src/routing/prompt-keys.ts";
import { prompt } from "./scene.ts";

const keys = (tokenCount: number, first = 0) => promptKeys(prompt(tokenCount, first), 128, null);

/** A prompt of which the first `shared` tokens are those of `prompt`, the rest its own. */
function fork(shared: number, tokenCount: number) {
  const tokens = prompt(tokenCount);
  return promptKeys(tokens.fill(9, shared), 128, null);
}

describe("PredictedResidency", () => {
  test("PredictedResidency credits only the instance that a prompt was sent to", () => {
    const predicted = new PredictedResidency(1000);
    predicted.record("a", keys(1024), 0);
    expect(predicted.tokens("a", keys(1024), 0, 1)).toBe(1024);
    expect(predicted.tokens("b", keys(1024), 0, 1)).toBe(0);
    expect([predicted.has("a"), predicted.has("b")]).toEqual([true, false]);
  });

  test("PredictedResidency credits the longest common prefix in whole strides", () => {
    const predicted = new PredictedResidency(1000);
    predicted.record("a", keys(1024), 0);
    expect(predicted.tokens("a", keys(512), 0, 1)).toBe(512);
    expect(predicted.tokens("a", keys(4096), 0, 1)).toBe(1024);
    expect(predicted.tokens("a", fork(700, 1024), 0, 1)).toBe(640);
    expect(predicted.tokens("a", keys(1024, 1), 0, 1)).toBe(0);
  });

  test("PredictedResidency says nothing that is not longer than what is measured", () => {
    const predicted = new PredictedResidency(1000);
    predicted.record("a", keys(1024), 0);
    expect(predicted.tokens("a", keys(1024), 1023, 1)).toBe(1024);
    expect(predicted.tokens("a", keys(1024), 1024, 1)).toBe(0);
    expect(predicted.tokens("a", keys(2048), 1040, 1)).toBe(0);
  });

  test("PredictedResidency ends with its window, to the millisecond", () => {
    const predicted = new PredictedResidency(1000);
    predicted.record("a", keys(1024), 500);
    expect(predicted.tokens("a", keys(1024), 0, 1499)).toBe(1024);
    expect(predicted.tokens("a", keys(1024), 0, 1500)).toBe(0);
  });

  test("PredictedResidency prolongs only the prefix that was sent again", () => {
    const predicted = new PredictedResidency(1000);
    predicted.record("a", keys(1024), 0);
    predicted.record("a", keys(256), 900);
    expect(predicted.tokens("a", keys(1024), 0, 999)).toBe(1024);
    expect(predicted.tokens("a", keys(1024), 0, 1000)).toBe(256);
    expect(predicted.tokens("a", keys(1024), 0, 1899)).toBe(256);
    expect(predicted.tokens("a", keys(1024), 0, 1900)).toBe(0);
  });

  test("PredictedResidency is off with a window of 0", () => {
    const predicted = new PredictedResidency(0);
    predicted.record("a", keys(1024), 0);
    expect([predicted.isEnabled, predicted.has("a"), predicted.tokens("a", keys(1024), 0, 0)]).toEqual([false, false, 0]);
  });

  test("PredictedResidency lets go of the oldest prompts when an instance has too many", () => {
    const predicted = new PredictedResidency(1000, 4);
    for (let order = 0; order < 6; order++) predicted.record("a", keys(256, order), 0);
    // Two generations of four prefixes: the first two prompts are gone.
    expect([0, 1, 2, 3, 4, 5].map((order) => predicted.tokens("a", keys(256, order), 0, 0))).toEqual([0, 0, 256, 256, 256, 256]);
  });

  test("PredictedResidency forgets an instance that is gone, what is long over, and everything when it is reset", () => {
    const predicted = new PredictedResidency(1000);
    for (const name of ["a", "b"]) predicted.record(name, keys(128), 0);
    predicted.forgetInstance("a");
    expect([predicted.has("a"), predicted.has("b")]).toEqual([false, true]);
    predicted.sweep(1999);
    expect(predicted.has("b")).toBe(true);
    predicted.sweep(2000);
    expect(predicted.has("b")).toBe(false);
    predicted.record("b", keys(128), 2000);
    predicted.reset();
    expect(predicted.has("b")).toBe(false);
  });

  test("PredictedResidency keeps an instance that was sent something within the last window", () => {
    const predicted = new PredictedResidency(1000);
    predicted.record("a", keys(128), 0);
    predicted.record("a", keys(256, 1), 1500);
    predicted.sweep(2000);
    expect(predicted.tokens("a", keys(256, 1), 0, 2000)).toBe(256);
  });

  test("PredictedResidency answers as a list of all prompts sent does", () => {
    const step = fc.record({
      length: fc.integer({ min: 0, max: 12 }),
      shared: fc.integer({ min: 0, max: 12 }),
      waitMs: fc.nat(400),
    });
    const property = fc.property(fc.array(step, { maxLength: 30 }), fc.nat(12), (steps, beyond) => {
      const predicted = new PredictedResidency(1000);
      const sent: { keys: Float64Array; atMs: number }[] = [];
      let nowMs = 0;
      for (const { length, shared, waitMs } of steps) {
        nowMs += waitMs;
        const asked = fork(Math.min(shared, length) * 128, length * 128);
        const longest = Math.max(
          0,
          ...sent.filter(({ atMs }) => nowMs < atMs + 1000).map((other) => commonStrides(other.keys, asked.keys)),
        );
        expect(predicted.tokens("a", asked, beyond * 128, nowMs)).toBe(longest > beyond ? longest * 128 : 0);
        predicted.record("a", asked, nowMs);
        sent.push({ keys: asked.keys, atMs: nowMs });
      }
    });
    fc.assert(property, { numRuns: 300 });
  });
});

function commonStrides(left: Float64Array, right: Float64Array): number {
  let strides = 0;
  while (strides < Math.min(left.length, right.length) && left[strides] === right[strides]) strides++;
  return strides;
}

import { expect, test } from "bun:test";
import fc from "fast-check";
import { editDistance, nearestNames } from "../../src/config/nearest-names.ts";

test.each([
  ["", "", 0],
  ["", "abc", 3],
  ["abc", "", 3],
  ["host", "host", 0],
  ["hots", "host", 1],
  ["hosts", "host", 1],
  ["hst", "host", 1],
  ["hast", "host", 1],
  ["ohst", "host", 1],
  ["kitten", "sitting", 3],
  ["ca", "abc", 3],
])("editDistance from %j to %j is %d", (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
});

test("editDistance is the same both ways, 0 for equals only, and at most the longer length", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(word, word, (from, to) => {
      const distance = editDistance(from, to);
      expect(editDistance(to, from)).toBe(distance);
      expect(distance === 0).toBe(from === to);
      expect(distance).toBeLessThanOrEqual(Math.max(from.length, to.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(from.length - to.length));
    }),
  );
});

test.each([
  ["host", ["port", "host", "hosts"], ["host"]],
  ["hosd", ["host", "hose", "most"], ["host", "hose"]],
  ["hosd", ["host", "hose", "hosp"], ["host", "hose"]],
  ["ab", ["cb"], ["cb"]],
  ["abc", ["xyc"], []],
  ["", ["host"], []],
  ["host", [], []],
])("nearestNames of %j among %j are %j", (text, names, nearest) => {
  expect(nearestNames(text, names)).toEqual(nearest);
});

test("nearestNames compares nothing with a text that is longer than any name", () => {
  expect(nearestNames("host".repeat(1_000_000), ["host"])).toEqual([]);
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { reachBar } from "../../src/cli/query-view.ts";

const bar = (device: number, host: number, disk: number, whole: number) => reachBar({ device, host, disk }, whole, 8);

describe("reachBar", () => {
  test.each([
    [[4, 2, 1, 8], "████▓▓░·"],
    [[8, 0, 0, 8], "████████"],
    [[0, 0, 0, 8], "········"],
    [[0, 0, 0, 0], "········"],
    [[0, 0, 4, 8], "░░░░····"],
    [[1, 0, 0, 10_000], "█·······"],
    [[0, 1, 0, 10_000], "▓·······"],
    [[9_999, 0, 0, 10_000], "███████·"],
  ] as const)("reachBar draws %j", ([device, host, disk, whole], drawn) => expect(bar(device, host, disk, whole)).toBe(drawn));

  test("reachBar always has its width, and shows all and nothing as such only", () => {
    const property = fc.property(fc.nat(500), fc.nat(500), fc.nat(500), fc.nat(500), (device, host, disk, rest) => {
      const drawn = bar(device, host, disk, device + host + disk + rest);
      expect(drawn).toHaveLength(8);
      expect(drawn).toMatch(/^█*▓*░*·*$/);
      if (device + host + disk + rest === 0) return;
      expect(drawn.includes("·")).toBe(rest > 0);
      expect(drawn === "········").toBe(device + host + disk === 0);
    });
    fc.assert(property, { numRuns: 500 });
  });
});

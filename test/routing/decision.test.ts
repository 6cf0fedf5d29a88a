import { describe, expect, test } from "bun:test";
import { RoundRobin } from "#routing";
import { instance, route } from "./scene.ts";

describe("A refusal", () => {
  const suspect = { state: "SUSPECT" } as const;

  test.each([
    ["nobody is there", [], "no prefill candidate: no instance is registered"],
    ["only decode instances are left", [instance("d", "DECODE")], "no prefill candidate: no instance works on the prefill side"],
    [
      "everybody is SUSPECT",
      [instance("a", "DEFAULT", suspect), instance("b", "PREFILL", suspect), instance("d", "DECODE", suspect)],
      "no prefill candidate: 2 SUSPECT",
    ],
    [
      "nobody decodes",
      [instance("a", "DEFAULT", suspect), instance("b", "PREFILL"), instance("c", "MIX"), instance("d", "DECODE", suspect)],
      "no prefill candidate: 1 SUSPECT, 2 in need of a decode instance; no decode candidate: 1 SUSPECT",
    ],
    [
      "nobody is there to decode",
      [instance("b", "PREFILL")],
      "no prefill candidate: 1 in need of a decode instance; no decode candidate: no instance works on the decode side",
    ],
  ])("A refusal says that %s", (_, instances, reason) => {
    expect(route(new RoundRobin().decide({ instances }))).toBe(reason);
  });

  test("A refusal lists the candidates with their reasons", () => {
    const { kind, candidates } = new RoundRobin().decide({ instances: [instance("a", "DEFAULT", suspect)] });
    expect(kind).toBe("refused");
    expect(candidates.map(({ excluded }) => excluded)).toEqual([{ reason: "suspect" }]);
  });
});

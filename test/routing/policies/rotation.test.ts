import { describe, expect, test } from "bun:test";
import { judge } from "../../../src/routing/eligibility.ts";
import { cheapest, Rotation } from "../../../src/routing/policies/rotation.ts";
import { instance } from "../scene.ts";

function candidates(...names: string[]) {
  return judge(
    names.map((name) => instance(name)),
    null,
  ).prefill;
}

function scored(...scores: number[]) {
  return candidates(...scores.map((_, position) => `instance-${position}`)).map((candidate, position) => ({
    ...candidate,
    score: scores[position],
  }));
}

describe("Rotation", () => {
  const turns = (rotation: Rotation, ...fleets: string[][]) =>
    fleets.map((names) => {
      const next = rotation.next(candidates(...names));
      rotation.take(next);
      return next?.instance.registration.name ?? null;
    });

  test("Rotation gives each its turn and begins again", () => {
    const names = ["a", "b", "c"];
    expect(turns(new Rotation(), names, names, names, names)).toEqual(["a", "b", "c", "a"]);
  });

  test("Rotation passes nobody over when the one before leaves or another comes", () => {
    expect(turns(new Rotation(), ["a", "b", "c"], ["b", "c"], ["aa", "b", "c"], ["aa", "b", "c"])).toEqual(["a", "b", "c", "aa"]);
  });

  test("Rotation chooses nobody of none and keeps the turn", () => {
    expect(turns(new Rotation(), ["a", "b"], [], ["a", "b"])).toEqual(["a", null, "b"]);
  });

  test("Rotation keeps the turn of whoever has not taken it", () => {
    const rotation = new Rotation();
    const next = () => rotation.next(candidates("a", "b"));
    expect([next(), next()].map((candidate) => candidate?.instance.registration.name)).toEqual(["a", "a"]);
    rotation.take(next());
    expect(next()?.instance.registration.name).toBe("b");
  });

  test("Rotation begins with the first again when it is reset", () => {
    const rotation = new Rotation();
    turns(rotation, ["a", "b"]);
    rotation.reset();
    expect(turns(rotation, ["a", "b"])).toEqual(["a"]);
  });
});

describe("cheapest", () => {
  const cheapestOf = (...scores: number[]) => cheapest(scored(...scores)).map(({ score }) => score);

  test("cheapest keeps all with the least score, and those that differ by rounding only", () => {
    expect(cheapestOf(0.5, 0.25, 1, 0.25)).toEqual([0.25, 0.25]);
    expect(cheapestOf(0.3, 0.1 + 0.2)).toEqual([0.3, 0.1 + 0.2]);
    expect(cheapestOf(0.3, 0.3 + 1e-9)).toEqual([0.3]);
    expect(cheapestOf()).toEqual([]);
  });
});

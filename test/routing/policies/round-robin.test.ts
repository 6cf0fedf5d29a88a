import { describe, expect, test } from "bun:test";
import { RoundRobin } from "#routing";
import { instance, placed, route } from "../scene.ts";

function routes(policy: RoundRobin, instances: ReturnType<typeof instance>[], count: number) {
  return Array.from({ length: count }, () => route(policy.decide({ instances })));
}

describe("RoundRobin", () => {
  test("RoundRobin has a turn for each side", () => {
    const fleet = [
      instance("a"),
      instance("b", "PREFILL"),
      instance("c", "MIX"),
      instance("d", "DECODE"),
      instance("e", "DECODE"),
    ];
    expect(routes(new RoundRobin(), fleet, 6)).toEqual([
      ["a", "d"],
      ["b", "e"],
      ["c", "d"],
      ["a", "e"],
      ["b", "d"],
      ["c", "e"],
    ]);
  });

  test("RoundRobin passes over SUSPECT instances", () => {
    const fleet = [instance("a"), instance("b", "DEFAULT", { state: "SUSPECT" }), instance("c")];
    expect(routes(new RoundRobin(), fleet, 3)).toEqual([
      ["a", null],
      ["c", null],
      ["a", null],
    ]);
  });

  test("RoundRobin lets only DEFAULT instances serve alone", () => {
    expect(routes(new RoundRobin(), [instance("a", "PREFILL"), instance("b"), instance("c", "MIX")], 2)).toEqual([
      ["b", null],
      ["b", null],
    ]);
  });

  test("RoundRobin refuses when only decode instances are left", () => {
    expect(route(new RoundRobin().decide({ instances: [instance("d", "DECODE")] }))).toBeString();
  });

  test("RoundRobin gives no scores and keeps no books", () => {
    const policy = new RoundRobin();
    const { prefill, policy: name, flip } = placed(policy.decide({ instances: [instance("a")] }));
    expect([prefill.score, prefill.hits, name, flip]).toEqual([null, null, "RR", null]);
    expect([policy.step(), policy.tick(), policy.counts]).toEqual([null, [], { forgottenRequests: 0, unknownSteps: 0 }]);
  });

  test("RoundRobin begins with the first of each side again when it is reset", () => {
    const policy = new RoundRobin();
    const fleet = [instance("a"), instance("b"), instance("d", "DECODE"), instance("e", "DECODE")];
    routes(policy, fleet, 1);
    policy.reset();
    expect(routes(policy, fleet, 1)).toEqual([["a", "d"]]);
  });
});

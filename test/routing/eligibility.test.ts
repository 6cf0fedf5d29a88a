import { describe, expect, test } from "bun:test";
import { describeExclusion, describeUncredited } from "#routing";
import { judge } from "../../src/routing/eligibility.ts";
import { instance, load, NO_REPORT } from "./scene.ts";

const names = (candidates: { instance: { registration: { name: string } } }[]) =>
  candidates.map((candidate) => candidate.instance.registration.name);

describe("judge", () => {
  const fleet = [
    instance("a", "DEFAULT"),
    instance("b", "PREFILL"),
    instance("c", "MIX", { currentRole: "PREFILL" }),
    instance("d", "DECODE"),
    instance("e", "MIX", { currentRole: "DECODE" }),
  ];

  test("judge puts DEFAULT, PREFILL and MIX as PREFILL on one side, DECODE and MIX as DECODE on the other", () => {
    const { candidates, prefill, decode } = judge(fleet, null);
    expect(names(prefill)).toEqual(["a", "b", "c"]);
    expect(names(decode)).toEqual(["d", "e"]);
    expect(candidates.map(({ excluded }) => excluded)).toEqual([null, null, null, null, null]);
  });

  test("judge leaves out SUSPECT instances on both sides and does not ask for their load", () => {
    const asked: string[] = [];
    const suspects = [
      instance("a"),
      instance("b", "DEFAULT", { state: "SUSPECT" }),
      instance("d", "DECODE", { state: "SUSPECT" }),
    ];
    const { candidates, prefill, decode } = judge(suspects, ({ registration }) => {
      asked.push(registration.name);
      return load(0);
    });
    expect(names(prefill)).toEqual(["a"]);
    expect(decode).toEqual([]);
    expect(candidates.map(({ excluded }) => excluded?.reason)).toEqual([undefined, "suspect", "suspect"]);
    expect(asked).toEqual(["a"]);
  });

  test("judge lets an instance serve whose lease is lost", () => {
    expect(names(judge([instance("a", "DEFAULT", { state: "LEASE_LOST" })], null).prefill)).toEqual(["a"]);
  });

  test("judge leaves out an instance whose load is unknown, with the reason, where loads count", () => {
    const { candidates, prefill } = judge([instance("a"), instance("b")], ({ registration }) =>
      registration.name === "a" ? NO_REPORT : load(2, 0.5, 10),
    );
    expect(names(prefill)).toEqual(["b"]);
    expect(candidates[0]).toMatchObject({ load: null, excluded: { reason: "load-unknown", detail: "no report yet" } });
    expect(candidates[1].load).toMatchObject({ report: { waitingRequests: 2, cacheUsage: 0.5 }, ageMs: 10 });
  });

  test("judge lets only DEFAULT serve when nobody may decode", () => {
    const alone = [...fleet.slice(0, 3), instance("d", "DECODE", { state: "SUSPECT" })];
    const { candidates, prefill } = judge(alone, null);
    expect(names(prefill)).toEqual(["a"]);
    expect(candidates.map(({ excluded }) => excluded?.reason ?? null)).toEqual([null, "needs-decode", "needs-decode", "suspect"]);
  });

  test("judge finds nobody in an empty fleet", () => {
    expect(judge([], null)).toEqual({ candidates: [], prefill: [], decode: [] });
  });
});

test("describeExclusion and describeUncredited say what the person on call needs", () => {
  expect(describeExclusion({ reason: "suspect" })).toBe("the instance is SUSPECT");
  expect(describeExclusion({ reason: "load-unknown", detail: "no report yet" })).toBe("load unknown: no report yet");
  expect(describeExclusion({ reason: "needs-decode" })).toBe("only a DEFAULT instance serves without a decode instance");
  expect(describeUncredited({ reason: "no-stream", dpRank: 0 })).toBe("rank 0: no stream");
  expect(describeUncredited({ reason: "other-incarnation", dpRank: 1 })).toBe(
    "rank 1: its stream was opened for another process",
  );
  expect(describeUncredited({ reason: "unsynchronized", dpRank: 2 })).toBe("rank 2: its stream is not synchronized");
});

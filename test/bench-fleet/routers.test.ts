import { beforeEach, describe, expect, test } from "bun:test";
import { FleetIndex } from "./fleet-index.ts";
import { instanceNames, ObservedFleet } from "./observed-fleet.ts";
import { createRouter, type RouterName, usesIndex } from "./routers.ts";
import { BLOCK_TOKENS, parseTrace } from "./trace.ts";

const NAMES = instanceNames(3);

const trace = parseTrace(
  "synthetic",
  Array.from({ length: 12 }, (_, second) => ({
    timestamp: second * 1000,
    input_length: 4 * BLOCK_TOKENS,
    output_length: 1,
    hash_ids: [1, 2, 3, 4],
  })),
);

describe("Routers", () => {
  let fleet: ObservedFleet;
  let index: FleetIndex;

  beforeEach(async () => {
    fleet = new ObservedFleet(NAMES);
    index = await FleetIndex.create(trace.blocks, NAMES);
  });

  function report(waiting: readonly number[], atMs = 0): void {
    for (const [place, waitingRequests] of waiting.entries()) fleet.report(place, { waitingRequests, cacheUsage: 0 }, atMs);
  }

  function places(name: RouterName, count: number, nowMs = 0): number[] {
    const router = createRouter(name, fleet, usesIndex(name) ? index : null);
    return trace.requests.slice(0, count).map((request) => router.choose(request, nowMs));
  }

  function hold(place: number): void {
    index.apply(place, [{ kind: "stored", tier: "device", blocks: trace.requests[0].blocks }]);
  }

  test("RR takes turns, whatever the load", () => {
    report([9, 0, 0]);
    expect(places("RR", 5)).toEqual([0, 1, 2, 0, 1]);
  });

  test("Least load takes the shortest queue, and equals in turn", () => {
    report([1, 0, 0]);
    expect(places("least load", 4)).toEqual([1, 2, 1, 2]);
    report([2, 2, 1]);
    expect(places("least load", 3)).toEqual([2, 2, 2]);
  });

  test("CAR goes where the prompt is, until the queue there costs more", () => {
    hold(1);
    expect(places("CAR", 4)).toEqual([1, 1, 1, 1]);
    report([0, 4, 4]);
    // Holding everything is worth as much as the longest queue costs: the two take turns.
    expect(places("CAR", 4)).toEqual([0, 1, 0, 1]);
  });

  test("CAR goes by the last reports alone, CAR with in flight by what it sent since as well", () => {
    expect(new Set(places("CAR", 6))).toEqual(new Set([0, 1, 2]));
    hold(2);
    expect(new Set(places("CAR", 6))).toEqual(new Set([2]));
    expect(new Set(places("CAR + in flight + predicted", 6))).not.toEqual(new Set([2]));
  });

  test("CAR with predictions stays with the instance it chose before its events arrive", () => {
    const router = createRouter("CAR + in flight + predicted", fleet, index);
    const [first, second, third] = trace.requests;
    const chosen = router.choose(first, 0);
    report([0, 0, 0], 500);
    expect(router.choose(second, 500)).toBe(chosen);
    report([0, 0, 0], 60_000);
    // The window of the second ended long ago: it is another's turn.
    expect(router.choose(third, 60_000)).not.toBe(chosen);
  });
});

import { describe, expect, test } from "bun:test";
import type { LoadOrigin } from "#domain";
import { currentLoad, InstanceLoads } from "../../src/fleet/loads.ts";

const MAX_AGE_MS = 10_000;

const report = (waitingRequests: number, cacheUsage = 0.5) => ({ waitingRequests, cacheUsage });

/** What counts at `nowMs` of reports that came at the times given. */
function loadAt(nowMs: number, received: readonly [LoadOrigin, ReturnType<typeof report>, number][]) {
  const loads = new InstanceLoads();
  for (const load of received) loads.receive(...load);
  return currentLoad(loads.received, nowMs, MAX_AGE_MS);
}

describe("currentLoad", () => {
  test("A load without any report is unknown", () => {
    expect(loadAt(0, [])).toEqual({ kind: "unknown", reason: "no load report yet" });
  });

  test("The freshest report counts, whatever its origin", () => {
    const heartbeat = ["heartbeat", report(1), 100] as const;
    const scrape = ["scrape", report(2), 300] as const;
    const etcd = ["etcd", report(3), 200] as const;
    expect(loadAt(400, [[...heartbeat], [...scrape], [...etcd]])).toEqual({
      kind: "known",
      report: report(2),
      origin: "scrape",
      ageMs: 100,
    });
  });

  test("A report counts as long as it is at most as old as is allowed", () => {
    expect(loadAt(10_000, [["heartbeat", report(1), 0]])).toMatchObject({ kind: "known", ageMs: 10_000 });
    expect(loadAt(10_001, [["heartbeat", report(1), 0]])).toEqual({
      kind: "unknown",
      reason: "load report of 10.1 s ago, at most 10 s is allowed",
    });
    expect(loadAt(12_300, [["heartbeat", report(1), 0]])).toMatchObject({
      reason: "load report of 12.3 s ago, at most 10 s is allowed",
    });
  });

  test("A valid report counts although a fresher one of another origin is invalid", () => {
    const load = loadAt(9000, [
      ["etcd", report(4), 0],
      ["heartbeat", report(-1), 8000],
    ]);
    expect(load).toMatchObject({ kind: "known", origin: "etcd", ageMs: 9000 });
  });

  test.each([
    [report(-1), "waiting_requests_num is -1, a number from 0 is needed"],
    [report(Number.NaN), "waiting_requests_num is NaN, a number from 0 is needed"],
    [report(0, 1.01), "gpu_cache_usage_perc is 1.01, a number from 0 to 1 is needed"],
    [report(0, Number.NaN), "gpu_cache_usage_perc is NaN, a number from 0 to 1 is needed"],
  ])("An invalid report is the reason why there is no load: %j", (invalid, reason) => {
    expect(loadAt(1, [["heartbeat", invalid, 0]])).toEqual({ kind: "unknown", reason });
  });

  test("The freshest of the reports that do not count gives the reason", () => {
    const stale = ["etcd", report(1), 0] as [LoadOrigin, ReturnType<typeof report>, number];
    expect(loadAt(15_000, [stale, ["heartbeat", report(-1), 14_000]])).toMatchObject({
      reason: "waiting_requests_num is -1, a number from 0 is needed",
    });
    expect(loadAt(15_000, [stale, ["heartbeat", report(-1), 0], ["scrape", report(2), 1000]])).toMatchObject({
      reason: "load report of 14.0 s ago, at most 10 s is allowed",
    });
  });
});

describe("InstanceLoads", () => {
  test("InstanceLoads keeps the last report of each origin, and readers see each that comes", () => {
    const loads = new InstanceLoads();
    const { received } = loads;
    loads.receive("heartbeat", report(1), 10);
    loads.receive("etcd", report(2), 20);
    loads.receive("heartbeat", report(3), 30);
    expect(received).toEqual([
      { origin: "heartbeat", report: report(3), receivedAtMs: 30 },
      { origin: "etcd", report: report(2), receivedAtMs: 20 },
    ]);
  });
});

import { describe, expect, test } from "bun:test";
import type { LoadOrigin } from "#domain";
import { isScraped, ScrapeRound, scrapedEngine } from "../../../src/fleet/scrape/scrape-round.ts";
import { vllm } from "./scene.ts";

const INTERVAL_MS = 1000;

function withLoad(origin: LoadOrigin, receivedAtMs: number, cacheUsage = 0.5) {
  return vllm("a:1", { loads: [{ origin, receivedAtMs, report: { waitingRequests: 0, cacheUsage } }] });
}

describe("scrapedEngine", () => {
  test.each([
    ["vllm", "vllm"],
    ["sglang", "sglang"],
    ["xllm", null],
    ["mindie", null],
  ] as const)("of backend %s is %p", (backend, engine) => {
    expect(scrapedEngine(vllm("a:1", { backend }))).toBe(engine);
  });
});

describe("isScraped", () => {
  test("holds for an instance that may serve and tells nothing", () => {
    expect(isScraped(vllm("a:1"), 0, INTERVAL_MS)).toBe(true);
    expect(isScraped(vllm("a:1", { state: "LEASE_LOST", backend: "sglang" }), 0, INTERVAL_MS)).toBe(true);
  });

  test("does not hold for a SUSPECT instance, nor for an engine whose metrics are not known", () => {
    expect(isScraped(vllm("a:1", { state: "SUSPECT" }), 0, INTERVAL_MS)).toBe(false);
    expect(isScraped(vllm("a:1", { backend: "xllm" }), 0, INTERVAL_MS)).toBe(false);
  });

  test("does not hold while a valid heartbeat load is younger than two intervals", () => {
    expect(isScraped(withLoad("heartbeat", 500), 2499, INTERVAL_MS)).toBe(false);
    expect(isScraped(withLoad("heartbeat", 500), 2500, INTERVAL_MS)).toBe(true);
  });

  test("holds beside an invalid heartbeat load, and beside loads of other origins", () => {
    expect(isScraped(withLoad("heartbeat", 0, 1.5), 0, INTERVAL_MS)).toBe(true);
    expect(isScraped(withLoad("etcd", 0), 0, INTERVAL_MS)).toBe(true);
    expect(isScraped(withLoad("scrape", 0), 0, INTERVAL_MS)).toBe(true);
  });
});

describe("ScrapeRound", () => {
  const NAMES = ["a", "b", "c", "d"];

  test("spreads its names evenly over the interval", () => {
    const round = new ScrapeRound(NAMES, 100, INTERVAL_MS);
    expect(round.take(100, 16)).toEqual(["a"]);
    expect(round.take(349, 16)).toEqual([]);
    expect(round.take(350, 16)).toEqual(["b"]);
    expect(round.take(850, 16)).toEqual(["c", "d"]);
    expect(round.take(5000, 16)).toEqual([]);
  });

  test("takes 128 names in sixteen steps of eight", () => {
    const round = new ScrapeRound(
      Array.from({ length: 128 }, (_, index) => `i-${index}`),
      0,
      INTERVAL_MS,
    );
    const counts = Array.from({ length: 16 }, (_, step) => round.take((step * INTERVAL_MS) / 16, 16).length);
    expect(counts).toEqual([1, ...Array.from({ length: 15 }, () => 8)]);
    expect(round.take(INTERVAL_MS, 16)).toHaveLength(7);
  });

  test("is over when the interval is, and every name has had its turn", () => {
    const round = new ScrapeRound(NAMES, 0, INTERVAL_MS);
    expect(round.take(999, 16)).toHaveLength(4);
    expect(round.isOver(999)).toBe(false);
    expect(round.isOver(1000)).toBe(true);
  });

  test("keeps the turn of names that found no room, beyond the interval", () => {
    const round = new ScrapeRound(NAMES, 0, INTERVAL_MS);
    expect(round.take(1000, 0)).toEqual([]);
    expect(round.take(1000, 3)).toEqual(["a", "b", "c"]);
    expect(round.isOver(9000)).toBe(false);
    expect(round.take(9000, 1)).toEqual(["d"]);
    expect(round.isOver(9000)).toBe(true);
  });

  test("is followed by a round on the beat of the interval, unless that is a whole interval late", () => {
    const round = new ScrapeRound(NAMES, 100, INTERVAL_MS);
    expect(round.nextStartMs(1100)).toBe(1100);
    expect(round.nextStartMs(1162)).toBe(1100);
    expect(round.nextStartMs(2099)).toBe(1100);
    expect(round.nextStartMs(2100)).toBe(2100);
  });

  test("without names takes nothing, and is over after the interval", () => {
    const round = new ScrapeRound([], 0, INTERVAL_MS);
    expect(round.take(0, 16)).toEqual([]);
    expect(round.isOver(999)).toBe(false);
    expect(round.isOver(1000)).toBe(true);
  });
});

import { beforeAll, describe, expect, test } from "bun:test";
import type { Row } from "./question.ts";
import { SMALL_SCALE } from "./scale.ts";
import { rowNames, runBench } from "./suite.ts";

async function runSmall(only = ""): Promise<Row[]> {
  return Array.fromAsync(runBench(SMALL_SCALE, only));
}

describe("The benchmarks at small scale", () => {
  let rows: Row[];

  beforeAll(async () => {
    rows = await runSmall();
  }, 30_000);

  function checksums(text: string): string[] {
    return rows.filter(({ what }) => what.includes(text)).map(({ checksum }) => checksum);
  }

  test("Every question is answered, once and in order", () => {
    expect(rows.map(({ what }) => what)).toEqual(rowNames(SMALL_SCALE));
    expect(new Set(rowNames(SMALL_SCALE)).size).toBe(rows.length);
  });

  test("Every answer has figures that are measured numbers", () => {
    for (const { figures } of rows) {
      expect(figures.length).toBeGreaterThan(0);
      for (const { value } of figures) expect(value > 0 && Number.isFinite(value)).toBe(true);
    }
  });

  test("Every promise has a figure with a target", () => {
    const promised = [
      "blocks of 128",
      "blocks of 16",
      "ingest of",
      "JSON",
      "binary",
      "route decision",
      "memory",
      "clearing",
      "start of",
    ];
    if (rowNames(SMALL_SCALE).some((what) => what.includes("etcd"))) promised.push("discovery refresh", "listing etcd");
    for (const text of promised) {
      const figures = rows.filter(({ what }) => what.includes(text)).flatMap((row) => row.figures);
      expect(figures.some(({ target }) => target !== null)).toBe(true);
    }
  });

  test("Matches give the same answers whether ingest runs or not, and clearing another stream changes none", () => {
    for (const text of ["match of 4,096 tokens in blocks of 128", "match of 4,096 tokens in blocks of 16", "clearing"]) {
      expect(checksums(text).length).toBeGreaterThan(1);
      expect(new Set(checksums(text)).size).toBe(1);
    }
  });

  test("Ingest leaves the same blocks behind however events are batched, and so does applying alone", () => {
    const stored = [...checksums("ingest of"), ...checksums("applying alone")];
    expect(stored).toHaveLength(7);
    expect(new Set(stored).size).toBe(1);
    expect(checksums("removal of")).not.toContain(stored[0]);
  });

  test("Queries get the same answer in each form of the body", () => {
    expect(checksums("query over HTTP")).toHaveLength(3);
    expect(new Set(checksums("query over HTTP")).size).toBe(1);
  });

  test("A second run of a row computes the same", async () => {
    for (const text of ["decoding alone", "removal of"]) {
      const [again] = await runSmall(text);
      expect([again.checksum]).toEqual(checksums(text));
    }
  });
});

test("runBench answers only the questions whose names contain the text", async () => {
  expect((await runSmall("decoding alone")).map(({ what }) => what)).toEqual(["decoding alone of 16-token blocks, 32 per event"]);
  expect(await runSmall("no such row")).toEqual([]);
});

import { describe, expect, test } from "bun:test";
import { atLeast, atMost, type Row } from "./question.ts";
import { formatInterference, formatMachine, formatResult, formatTable } from "./report.ts";

const ROWS: Row[] = [
  {
    what: "a match",
    figures: [
      { label: "p50", value: 45, unit: "us", target: atMost(60) },
      { label: "p99", value: 1234.5, unit: "us", target: null },
    ],
    checksum: "0badcafe",
  },
  {
    what: "ingest",
    figures: [{ label: "median", value: 1_500_000, unit: "blocks/s", target: atLeast(1e6) }],
    checksum: "00000001",
  },
];

describe("formatTable", () => {
  test("formatTable gives each figure a line, and a row's name and checksum once", () => {
    expect(formatTable(ROWS, true).split("\n")).toEqual([
      "| what    | figure | target               | measured           | result      | checksum |",
      "| ------- | ------ | -------------------- | ------------------ | ----------- | -------- |",
      "| a match | p50    | ≤ 60 us              | 45 us              | met by 25 % | 0badcafe |",
      "|         | p99    |                      | 1,235 us           |             |          |",
      "| ingest  | median | ≥ 1,000,000 blocks/s | 1,500,000 blocks/s | met by 50 % | 00000001 |",
    ]);
  });

  test("formatTable leaves targets and results out where they do not apply", () => {
    expect(formatTable(ROWS, false).split("\n").slice(0, 3)).toEqual([
      "| what    | figure | measured           | checksum |",
      "| ------- | ------ | ------------------ | -------- |",
      "| a match | p50    | 45 us              | 0badcafe |",
    ]);
  });
});

describe("formatResult", () => {
  test("formatResult tells both sides of an upper limit", () => {
    expect(formatResult(40, atMost(50))).toBe("met by 20 %");
    expect(formatResult(50, atMost(50))).toBe("met by 0.0 %");
    expect(formatResult(52.5, atMost(50))).toBe("missed by 5.0 %");
    expect(formatResult(150, atMost(50))).toBe("missed by 200 %");
  });

  test("formatResult tells both sides of a lower limit", () => {
    expect(formatResult(2000, atLeast(1000))).toBe("met by 100 %");
    expect(formatResult(999, atLeast(1000))).toBe("missed by 0.1 %");
  });
});

test("formatMachine names processor, cores, Bun and commit", () => {
  const machine = { cpu: "Fast 9000", cores: 2, bun: "1.4.5", commit: "abc1234+changes" };
  expect(formatMachine(machine)).toBe("Fast 9000, 2 cores, Bun 1.4.5, commit abc1234+changes");
});

test("formatInterference tells the share in percent and the longest pause", () => {
  expect(formatInterference({ lostShare: 0.1234, longestPauseMs: 5.04 })).toBe(
    "Beside the run a busy loop lost 12.3 % of its time to others, at most 5.0 ms at once",
  );
});

import { describe, expect, test } from "bun:test";
import { printable } from "../../src/cli/paint.ts";
import type { Screen } from "../../src/cli/terminal.ts";
import { type Column, noteLines, tableLines } from "../../src/cli/text-table.ts";
import { PIPE } from "./recording-terminal.ts";

const COLUMNS: Column[] = [{ heading: "NAME" }, { heading: "COUNT", isNumber: true }, { heading: "STATE" }];

function wide(columns: number, hasColours = false): Screen {
  return { size: { columns, rows: 24 }, hasColours };
}

describe("tableLines", () => {
  test("tableLines puts texts to the left and numbers to the right, with nothing behind the last cell", () => {
    expect(tableLines(COLUMNS, [{ cells: ["a", "7", "x"] }, { cells: ["long name", "12345678", ""] }], PIPE)).toEqual([
      "NAME          COUNT  STATE",
      "a                 7  x",
      "long name  12345678",
    ]);
  });

  test("tableLines gives the first cell a line of its own where a row does not fit", () => {
    const rows = [{ cells: ["10.0.0.5:8000", "7", "x"], notes: ["a note"] }];
    expect(tableLines(COLUMNS, rows, wide(27))).toEqual(["NAME           COUNT  STATE", "10.0.0.5:8000      7  x", "  a note"]);
    expect(tableLines(COLUMNS, rows, wide(26))).toEqual(["NAME", "  COUNT  STATE", "10.0.0.5:8000", "      7  x", "  a note"]);
  });

  test("tableLines never exceeds a terminal, and cuts nothing elsewhere", () => {
    const rows = [{ cells: ["名".repeat(30), "7", "y".repeat(90)], notes: ["z ".repeat(100), "z".repeat(100)] }];
    for (const columns of [20, 40, 80]) {
      for (const line of tableLines(COLUMNS, rows, wide(columns, true)))
        expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
    }
    expect(tableLines(COLUMNS, rows, PIPE)).toHaveLength(4);
    expect(tableLines(COLUMNS, rows, PIPE).join("\n")).not.toContain("…");
  });

  test("tableLines keeps columns in line under wide characters and colours", () => {
    const rows = [{ cells: ["名前", { text: "1", colour: "red" as const }, "x"] }, { cells: ["ab", "22", "x"] }];
    const lines = tableLines(COLUMNS, rows, wide(80, true)).slice(1);
    expect(lines[0]).toContain("\x1b[31m1\x1b[0m");
    expect(new Set(lines.map((line) => Bun.stringWidth(line))).size).toBe(1);
  });

  test("tableLines has no colours where there are to be none", () => {
    const rows = [{ cells: [{ text: "a", colour: "red" as const }, "1", ""], notes: [{ text: "b", colour: "red" as const }] }];
    expect(tableLines(COLUMNS, rows, PIPE).join("")).not.toContain("\x1b");
  });

  test("tableLines lets no name steer the terminal", () => {
    const rows = [{ cells: ["\x1b[2Jevil\n\u009b\u202e", "1", ""], notes: ["\x1b]0;title\x07"] }];
    const text = tableLines(COLUMNS, rows, wide(80)).join("");
    expect(text).toContain("\\u001b[2Jevil\\u000a\\u009b\\u202e");
    expect(/[\p{Cc}\u202e]/u.test(text)).toBe(false);
  });
});

test("noteLines wraps at words, each line indented", () => {
  expect(noteLines("one two three four five six", wide(20))).toEqual(["  one two three four", "  five six"]);
});

test("printable leaves JSON on one line JSON of the same meaning", () => {
  const value = { name: "a\u009b\u2028\x1bb\ud83d\ude00" };
  const shown = printable(JSON.stringify(value));
  expect(JSON.parse(shown)).toEqual(value);
  expect(/[\p{Cc}\u2028]/u.test(shown)).toBe(false);
});

import { describe, expect, test } from "bun:test";
import { NameTable } from "../../../src/wire/msgpack/name-table.ts";

const find = (table: NameTable, text: string) => {
  const bytes = new TextEncoder().encode(`<${text}>`);
  return table.find(bytes, 1, bytes.length - 1);
};

describe("NameTable", () => {
  test("NameTable finds each of its names by position", () => {
    const table = new NameTable(["medium", "events", "ts"]);
    expect(["medium", "events", "ts"].map((name) => find(table, name))).toEqual([0, 1, 2]);
  });

  test("NameTable finds nothing but its names", () => {
    const table = new NameTable(["medium", "events"]);
    for (const text of ["", "mediun", "Medium", "mediums", "mediu", "évents", "x".repeat(100_000)])
      expect(find(table, text)).toBe(-1);
  });

  test("NameTable ignores the case of letters, and of nothing else, when told to", () => {
    const table = new NameTable(["gpu", "a[b"], "ignore-case");
    expect(["gpu", "GPU", "gPu"].map((name) => find(table, name))).toEqual([0, 0, 0]);
    expect(find(table, "a{b")).toBe(-1);
  });
});

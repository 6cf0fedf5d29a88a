import { describe, expect, test } from "bun:test";
import { dialectOf, SglangDialect, VllmDialect, XllmDialect } from "#wire";

describe("dialectOf", () => {
  test.each([
    ["xllm", XllmDialect],
    ["vllm", VllmDialect],
    ["sglang", SglangDialect],
  ] as const)("dialectOf gives %s its own dialect, a new one each time", (engine, expected) => {
    expect(dialectOf(engine)).toBeInstanceOf(expected);
    expect(dialectOf(engine)).not.toBe(dialectOf(engine));
  });
});

import { describe, expect, test } from "bun:test";
import { CommandError } from "../../src/cli/errors.ts";
import { type Options, readArguments } from "../../src/cli/options.ts";

const OPTIONS: Options = {
  url: { value: "URL", meaning: "" },
  instance: { value: "NAME", meaning: "", isList: true },
  json: { value: null, meaning: "" },
};

function problem(args: string[], operandsMax = 1): string {
  try {
    readArguments(args, OPTIONS, operandsMax);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 2) return error.message;
    throw error;
  }
  throw new Error("The arguments were read");
}

describe("readArguments", () => {
  test("readArguments reads options in both forms, switches, lists and operands in any order", () => {
    const read = readArguments(["--instance=a", "-", "--url", "http://h", "--json", "--instance", "b"], OPTIONS, 1);
    expect([read.text("url"), read.list("instance"), read.has("json"), read.operands]).toEqual([
      "http://h",
      ["a", "b"],
      true,
      ["-"],
    ]);
  });

  test("readArguments knows what is not given", () => {
    const read = readArguments([], OPTIONS, 1);
    expect([read.text("url"), read.list("instance"), read.has("json"), read.operands]).toEqual([null, [], false, []]);
  });

  test.each([
    [["--jsno"], "--jsno: found an unknown option, needed one that --help lists (did you mean --json?)"],
    [["--toString"], "--toString: found an unknown option, needed one that --help lists"],
    [["--url"], "--url: found no value, needed --url URL"],
    [["--url", "--json"], "--url: found no value, needed --url URL"],
    [["--url=a", "--url=b"], "--url: found a second value, needed the option once"],
    [["--json=yes"], "--json: found a value, needed the option alone"],
    [["a", "b"], '"b": found a further argument, needed 1'],
  ])("readArguments refuses %j", (args, message) => {
    expect(problem(args)).toBe(`Cannot read the arguments:\n  ${message}`);
  });

  test("readArguments tells of all that is wrong at once", () => {
    expect(problem(["a", "--x", "--url"], 0).split("\n")).toHaveLength(4);
  });

  test("readArguments takes a value that begins with dashes in the form with =", () => {
    expect(readArguments(["--instance=--a"], OPTIONS, 0).list("instance")).toEqual(["--a"]);
  });
});

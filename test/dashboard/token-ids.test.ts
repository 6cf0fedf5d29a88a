import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readTokenIds } from "../../src/dashboard/token-ids.ts";

const tokensOf = (text: string) => {
  const read = readTokenIds(text);
  return read.kind === "tokens" ? [...read.tokens] : read.problem;
};

describe("readTokenIds", () => {
  test.each([
    ["[1, 2, 3]", [1, 2, 3]],
    ["1 2 3", [1, 2, 3]],
    ["1,2,3", [1, 2, 3]],
    [" [1,\n 2,\n 3,\n] ", [1, 2, 3]],
    ["1\t2\n3", [1, 2, 3]],
    ["[]", []],
    ["4294967295", [4_294_967_295]],
    ['{"token_ids":[1,2]}', [1, 2]],
    ['{"count":2,"tokens":[1,2]}', [1, 2]],
  ])("reads %p", (text, tokens) => {
    expect(tokensOf(text)).toEqual(tokens);
  });

  test.each([
    ["", "There are no token ids yet: paste some, or open a file"],
    ["Once upon a time", 'Found "Once" as number 1: a token id is an integer from 0 to 4294967295'],
    ["1 2 -3", 'Found "-3" as number 3: a token id is an integer from 0 to 4294967295'],
    ["[1, 2.5]", 'Found "2.5" as number 2: a token id is an integer from 0 to 4294967295'],
    ["4294967296", 'Found "4294967296" as number 1: a token id is an integer from 0 to 4294967295'],
    ["[[1, 2], [3]]", 'Found "[1" as number 1: a token id is an integer from 0 to 4294967295'],
    ["1e3", 'Found "1e3" as number 1: a token id is an integer from 0 to 4294967295'],
    ["x".repeat(100), `Found "${"x".repeat(24)}…" as number 1: a token id is an integer from 0 to 4294967295`],
    ['{"token_ids":"1"}', "Found a JSON object without an array token_ids or tokens"],
    ['{"token_ids":[1', "Found a JSON object that does not end, or is not JSON"],
    ['{"token_ids":[null]}', 'Found "null" as number 1: a token id is an integer from 0 to 4294967295'],
  ])("says what is wrong with %p", (text, problem) => {
    expect(tokensOf(text)).toBe(problem);
  });

  test("refuses more tokens than the service takes", () => {
    expect(tokensOf("1 ".repeat(1_048_577))).toBe("Found 1048577 token ids, at most 1048576 are taken");
  });

  test("reads what JSON writes, and what is separated in any way", () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 1 });
    fc.assert(
      fc.property(tokens, fc.constantFrom(" ", ",", ", ", "\n", " ,\t"), (ids, separator) => {
        expect(tokensOf(JSON.stringify(ids))).toEqual(ids);
        expect(tokensOf(ids.join(separator))).toEqual(ids);
      }),
    );
  });
});

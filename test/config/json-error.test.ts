import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonErrorOffset, lineAndColumn } from "../../src/config/json-error.ts";

// The mark ^ stands before the offset that is expected and is not part of the text.
test.each([
  "^",
  "^x",
  "^'a'",
  '{"a": ^tru}',
  '{"a": 1,\n  ^b: 2}',
  '{"a": 1,^}',
  '{"a" ^1}',
  '{"a": 1 ^"b": 2}',
  "[1 ^2]",
  "[1 ^{}]",
  "[1,^,2]",
  "[0^1]",
  "[^+1]",
  "[1^.]",
  "[1 ^// why\n]",
  '["a", ^"\t"]',
  '["a", ^"\\q"]',
  '["a", ^"b]',
  '{"a": [1, 2^',
  '{"a": [1, 2]}\n^}',
  "[^\u00a01]",
])("jsonErrorOffset finds the mark in %j", (marked) => {
  const text = marked.replace("^", "");
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(jsonErrorOffset(text)).toBe(marked.indexOf("^"));
});

test("jsonErrorOffset finds the end of every valid text, and what is put behind it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = `${JSON.stringify(value, null, indent)}\n`;
      expect(jsonErrorOffset(text)).toBe(text.length);
      expect(jsonErrorOffset(`${text}]`)).toBe(text.length);
    }),
  );
});

test("jsonErrorOffset permits exactly what stands before the offset, in any order of tokens", () => {
  const tokens = fc.array(fc.constantFrom("{", "}", "[", "]", ",", ":", '"a"', '"', "1", "-", ".", "e", "null", "\n"));
  fc.assert(
    fc.property(tokens, (soup) => {
      const text = soup.join("");
      const offset = jsonErrorOffset(text);
      expect(jsonErrorOffset(text.slice(0, offset))).toBe(offset);
      if (offset < text.length) expect(() => JSON.parse(text)).toThrow(SyntaxError);
    }),
  );
});

test.each([
  [0, 1, 1],
  [2, 1, 3],
  [3, 2, 1],
  [4, 3, 1],
  [6, 3, 3],
])("lineAndColumn of offset %d is line %d column %d", (offset, line, column) => {
  expect(lineAndColumn("ab\n\ncd", offset)).toEqual({ line, column });
});

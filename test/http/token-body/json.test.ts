import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeObject } from "../../../src/http/token-body/decoded-body.ts";
import { jsonForm } from "../../../src/http/token-body/json.ts";
import { caughtProblem } from "../caught-problem.ts";

const encoder = new TextEncoder();
const tokens = new Uint32Array(64);

function decode(text: string) {
  tokens.fill(0xdead_beef);
  const { tokenCount, fields } = decodeObject(jsonForm, encoder.encode(text), tokens);
  return { tokens: [...tokens.subarray(0, tokenCount)], fields };
}

const anyTokens = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(0, 999_999_999, 1_000_000_000)), {
  maxLength: 32,
});
const otherFields = fc.dictionary(
  fc.string().filter((name) => name !== "token_ids" && name !== "__proto__"),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 4 },
);

/** An object with token_ids at any place among other fields, in any of JSON's spacings. */
const anyBody = fc
  .record({ tokens: anyTokens, fields: otherFields, place: fc.nat(), indent: fc.constantFrom(undefined, 1, "\t", "\n\r ") })
  .map(({ tokens: ids, fields, place, indent }) => {
    const entries: [string, unknown][] = Object.entries(fields);
    entries.splice(place % (entries.length + 1), 0, ["token_ids", ids]);
    return JSON.stringify(Object.fromEntries(entries), null, indent);
  });

test("jsonForm reads what JSON.parse reads, wherever token_ids stands", () => {
  fc.assert(
    fc.property(anyBody, (text) => {
      const { token_ids, ...fields } = JSON.parse(text);
      expect(decode(text)).toEqual({ tokens: token_ids, fields });
    }),
  );
});

test("jsonForm refuses a body cut off at any byte as malformed", () => {
  fc.assert(
    fc.property(anyBody, (text) => {
      const body = encoder.encode(text);
      for (let length = 0; length < body.length; length++) {
        const problem = caughtProblem(() => decodeObject(jsonForm, body.subarray(0, length), tokens));
        expect(problem.status).toBe(400);
        expect(problem.detail).toMatch(/cut off|not UTF-8/);
      }
    }),
    { numRuns: 30 },
  );
});

test.each([
  ['{"token_ids":[]}', []],
  ['{"token_ids":[ ]}', []],
  ['{"token_ids":[0]}', [0]],
  ['{"token_ids":[4294967295]}', [4294967295]],
  ['{"token_ids":[999999999,1000000000]}', [999999999, 1000000000]],
  ['{"token_ids":[1, 2,  3 ,\t4\r\n,\n5 ]}', [1, 2, 3, 4, 5]],
  ['{"\\u0074oken_ids":[1]}', [1]],
  ['\ufeff{"token_ids":[1]}', [1]],
  [' \n{"token_ids" : [1] } \n', [1]],
])("jsonForm reads the tokens of %j", (text, expected) => {
  expect(decode(text)).toEqual({ tokens: expected, fields: {} });
});

test.each([
  "-1",
  "-0",
  "1.5",
  "1.0",
  "1e3",
  "1E+3",
  "4294967296",
  "99999999999999999999",
  '"7"',
  "[1]",
  '{"a":1}',
  "null",
  "true",
  "1234567890.0",
])("jsonForm names the place of the element %s, which is not a token", (element) => {
  const { status, errors } = caughtProblem(() => decode(`{"token_ids":[1, ${element} , 2]}`));
  expect(status).toBe(422);
  expect(errors).toEqual([
    { pointer: "/token_ids/1", detail: `found ${element}, allowed are plain integers from 0 to 4294967295`, offset: 17 },
  ]);
});

test.each([
  ['{"token_ids":[1,]}', 16],
  ['{"token_ids":[,1]}', 14],
  ['{"token_ids":[1 2]}', 16],
  ['{"token_ids":[007]}', 15],
  ['{"token_ids":[00]}', 15],
  ['{"token_ids":[0123456789012]}', 15],
  ['{"token_ids":[1x]}', 15],
  ['{"token_ids":[-x]}', 15],
  ['{"token_ids":[-1}', 16],
  ['{"token_ids":[1}', 15],
  ['{"token_ids":[+1]}', 14],
  ['{"token_ids":[1.]}', 16],
  ['{"token_ids":[1]}}', 17],
  ['{"token_ids":[1]} {}', 18],
  ["[1]", 0],
  ["7", 0],
  ["token_ids", 0],
  ['{"token_ids":[1],"lora_name":nil}', 30],
  ['{"token_ids":[1],"token_ids":[2]}', 17],
  ['{"a":1,"token_ids":[1],"a":2}', 23],
])("jsonForm refuses %j as malformed at its byte", (text, offset) => {
  const { status, errors } = caughtProblem(() => decode(text));
  expect(status).toBe(400);
  expect(errors?.[0]?.offset).toBe(offset);
});

test.each([
  ["{}", undefined, "found no such field, the prompt's tokens are needed"],
  ['{"nested":{"token_ids":[1]}}', undefined, "found no such field, the prompt's tokens are needed"],
  ['{"token_ids":null}', 13, "found null, an array of integers is needed"],
  ['{"token_ids":"1,2"}', 13, 'found "1,2", an array of integers is needed'],
  ['{"token_ids":7}', 13, "found 7, an array of integers is needed"],
])("jsonForm refuses %j, which has no list of tokens", (text, offset, detail) => {
  const { status, errors } = caughtProblem(() => decode(text));
  expect(status).toBe(422);
  expect(errors).toEqual([{ pointer: "/token_ids", detail, ...(offset !== undefined && { offset }) }]);
});

test("jsonForm fills token memory to its last place and refuses one token more", () => {
  const full = Array.from({ length: tokens.length }, (_, index) => index);
  expect(decode(JSON.stringify({ token_ids: full })).tokens).toEqual(full);
  const { status, detail } = caughtProblem(() => decode(JSON.stringify({ token_ids: [...full, 1] })));
  expect(status).toBe(413);
  expect(detail).toBe("Cannot match the prompt: found more tokens, at most 64 are allowed");
});

test("jsonForm keeps a field named __proto__ as a field", () => {
  expect(Object.keys(decode('{"token_ids":[],"__proto__":1}').fields)).toEqual(["__proto__"]);
});

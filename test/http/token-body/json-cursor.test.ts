import { expect, test } from "bun:test";
import fc from "fast-check";
import { JsonCursor } from "../../../src/http/token-body/json-cursor.ts";
import { caughtProblem } from "../caught-problem.ts";

const encoder = new TextEncoder();

function walk(text: string): void {
  const cursor = new JsonCursor(encoder.encode(text));
  cursor.skipValue();
  if (cursor.peek() !== -1) cursor.fail("the end is needed");
}

function isAccepted(run: (text: string) => unknown, text: string): boolean {
  try {
    run(text);
    return true;
  } catch {
    return false;
  }
}

test("JsonCursor accepts every text that JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (text, indent) => {
      expect(() => walk(JSON.stringify(JSON.parse(text), null, indent))).not.toThrow();
    }),
  );
});

test("JsonCursor accepts exactly what JSON.parse accepts of texts made from JSON's own characters", () => {
  const text = fc
    .array(fc.constantFrom(...'{}[]:,"\\/bnu019-+.eE \ntruefalsn\u0001é'), { maxLength: 12 })
    .map((letters) => letters.join(""));
  fc.assert(
    fc.property(text, (candidate) => {
      expect(isAccepted(walk, candidate)).toBe(isAccepted(JSON.parse, candidate));
    }),
    { numRuns: 3000 },
  );
});

test("JsonCursor accepts exactly what JSON.parse accepts of lists that look like tokens", () => {
  const text = fc.array(fc.constantFrom(..."00123,,,  ].-e[\n"), { maxLength: 10 }).map((letters) => `[1, ${letters.join("")}`);
  fc.assert(
    fc.property(text, fc.boolean(), (start, isClosed) => {
      const candidate = isClosed ? `${start}]` : start;
      expect(isAccepted(walk, candidate)).toBe(isAccepted(JSON.parse, candidate));
    }),
    { numRuns: 3000 },
  );
});

test("JsonCursor accepts exactly what JSON.parse accepts after one character of a JSON text changes", () => {
  const changed = fc
    .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.constantFrom(...'{}[]:,"\\019-.e tn'))
    .map(([text, at, letter]) => text.slice(0, at % text.length) + letter + text.slice((at % text.length) + 1));
  fc.assert(
    fc.property(changed, (candidate) => {
      expect(isAccepted(walk, candidate)).toBe(isAccepted(JSON.parse, candidate));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["", 0, "the body is cut off, a value is needed"],
  ["[1,", 3, "the body is cut off, a value is needed"],
  ["[1 2]", 3, 'found "2", "," or "]" is needed'],
  ['{"a" 1}', 5, 'found "1", ":" is needed'],
  ["{a:1}", 1, 'found "a", a name in quotes is needed'],
  ['{"a":1,}', 7, 'found "}", a name in quotes is needed'],
  ["[01]", 2, 'found "1", "," or "]" is needed'],
  ["[-]", 2, 'found "]", a digit is needed'],
  ["[1.]", 3, 'found "]", a digit is needed'],
  ["[1e+]", 4, 'found "]", a digit is needed'],
  ["trUe", 2, 'found "U", true, false or null is needed'],
  ['"a\n"', 2, "found byte 0x0a, the closing quote of a string is needed"],
  ['"\\x"', 2, 'found "x", an escape of JSON is needed, such as \\n or \\u00e9'],
  ['"\\u12g4"', 5, 'found "g", four hexadecimal digits after \\u are needed'],
])("JsonCursor names the byte and the mistake in %j", (text, offset, detail) => {
  const { status, errors } = caughtProblem(() => walk(text));
  expect(status).toBe(400);
  expect(errors).toEqual([{ detail, offset }]);
});

test("JsonCursor refuses nesting beyond its limit instead of running out of stack", () => {
  const { errors } = caughtProblem(() => walk("[".repeat(100_000)));
  expect(errors).toEqual([{ detail: 'found "[", at most 32 levels of nesting are allowed', offset: 33 }]);
});

test("JsonCursor refuses text that is not UTF-8", () => {
  const cursor = new JsonCursor(new Uint8Array([0x22, 0xff, 0x22]));
  cursor.skipValue();
  expect(caughtProblem(() => cursor.textFrom(0)).errors).toEqual([
    { detail: "the text that begins there is not UTF-8", offset: 0 },
  ]);
});

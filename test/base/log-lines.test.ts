import { expect, test } from "bun:test";
import fc from "fast-check";
import type { LogLevel } from "../../src/base/log-event.ts";
import { formatJson, formatText } from "../../src/base/log-lines.ts";
import { logEvent } from "./log-event-of.ts";

const textOf = (value: string | number | boolean | null) => formatText(logEvent({ message: "m", fields: { value } })).slice(33);

test("formatText writes time, level, sentence and fields", () => {
  expect(formatText(logEvent())).toBe(
    '2026-01-31T12:00:00.000Z WARN  Stream is not synchronized instance=10.0.0.5:8000 rank=0 reason="gap: batch 12 expected, batch 14 arrived"',
  );
});

test("formatJson writes the same as an object", () => {
  expect(formatJson(logEvent())).toBe(
    '{"time":"2026-01-31T12:00:00.000Z","level":"warn","message":"Stream is not synchronized","instance":"10.0.0.5:8000","rank":0,"reason":"gap: batch 12 expected, batch 14 arrived"}',
  );
});

test.each([
  ["plain", "plain"],
  ["schlüssel", "schlüssel"],
  ["", '""'],
  ["two words", '"two words"'],
  ["a=b", '"a=b"'],
  ['"', '"\\""'],
  ["a\nb", '"a\\nb"'],
  ["\x1b[31m", '"\\u001b[31m"'],
  ["\x9b31m", '"\\u009b31m"'],
  ["a\u202eb", '"a\\u202eb"'],
  [1.5, "1.5"],
  [true, "true"],
  [null, "null"],
])("formatText writes value %j as %s", (value, text) => {
  expect(textOf(value)).toBe(`value=${text}`);
});

test.each([
  ["debug", "\x1b[2mDEBUG\x1b[0m"],
  ["info", "\x1b[32mINFO \x1b[0m"],
  ["warn", "\x1b[33mWARN \x1b[0m"],
  ["error", "\x1b[31mERROR\x1b[0m"],
] satisfies [LogLevel, string][])("formatText colours level %s alone", (level, word) => {
  expect(formatText(logEvent({ level, message: "m", fields: { a: 1 } }), true)).toBe(`2026-01-31T12:00:00.000Z ${word} m a=1`);
});

test("No value ends a line early, steers a terminal or is another one when it is read again", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      const event = logEvent({ fields: { value } });
      const json = formatJson(event);
      for (const line of [json, formatText(event)]) expect(line).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
      expect(JSON.parse(json).value).toBe(value);
    }),
  );
});

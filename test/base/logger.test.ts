import { expect, test } from "bun:test";
import { createLogger } from "#base";
import { LOG_LEVELS, type LogEvent } from "../../src/base/log-event.ts";
import { createEventLogger } from "../../src/base/logger.ts";

test("createLogger writes a line for each event from info on", () => {
  const lines: string[] = [];
  const logger = createLogger((line) => lines.push(line));
  for (const level of ["info", "warn", "error", "error"] as const) logger[level]("Something is so", { level_number: 1 });
  expect(logger.debug).toBeUndefined();
  expect(lines.map((line) => line.slice("2026-01-31T12:00:00.000Z ".length))).toEqual([
    "INFO  Something is so level_number=1",
    "WARN  Something is so level_number=1",
    "ERROR Something is so level_number=1",
    "ERROR Something is so level_number=1",
  ]);
});

test.each(LOG_LEVELS)("createEventLogger hands on what is at least %s", (least) => {
  const events: LogEvent[] = [];
  const logger = createEventLogger((event) => events.push(event), least);
  for (const level of LOG_LEVELS) logger[level]?.("Something is so");
  expect(events.map(({ level }) => level)).toEqual(LOG_LEVELS.slice(LOG_LEVELS.indexOf(least)));
  expect(events.every(({ message, fields }) => message === "Something is so" && Bun.deepEquals(fields, {}))).toBe(true);
});

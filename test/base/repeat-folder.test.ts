import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import type { LogEvent } from "../../src/base/log-event.ts";
import { REPEAT_LIMITS, RepeatFolder } from "../../src/base/repeat-folder.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { logEvent } from "./log-event-of.ts";

const LIMITS = { writtenMax: 2, windowMs: 60_000, windowsMax: 3 };
const MORE = /, (\d+) more in (\d+) s$/;

let clock: FakeClock;
let taken: LogEvent[];
let folder: RepeatFolder;

beforeEach(() => {
  clock = new FakeClock();
  taken = [];
  folder = new RepeatFolder((event) => taken.push(event), clock, LIMITS);
});

afterEach(() => jest.useRealTimers());

const messages = () => taken.map(({ message }) => message);
const add = (count: number, event = logEvent()) => {
  for (let n = 0; n < count; n++) folder.add(event);
};

test("RepeatFolder hands on the first events and tells how many more there were once the window is over", () => {
  add(39);
  expect(messages()).toEqual(["Stream is not synchronized", "Stream is not synchronized"]);
  clock.advance(59_999);
  folder.endDue();
  expect(taken).toHaveLength(2);
  clock.advance(1);
  folder.endDue();
  expect(messages()[2]).toBe("Stream is not synchronized, 37 more in 60 s");
  expect(taken).toHaveLength(3);
});

test("RepeatFolder tells with the count what the last repeat said, and when", () => {
  add(2);
  add(1, logEvent({ time: new Date("2026-01-31T12:00:07.000Z"), fields: { ...logEvent().fields, delay_ms: 7 } }));
  folder.flush();
  expect(taken[2].level).toBe("warn");
  expect(taken[2].fields).toEqual({ ...logEvent().fields, delay_ms: 7, repeats: 1, last_time: "2026-01-31T12:00:07.000Z" });
});

test("RepeatFolder begins anew after a window, and tells nothing of one without repeats", () => {
  add(2);
  clock.advance(60_000);
  add(2);
  clock.advance(60_000);
  add(1);
  folder.flush();
  expect(messages()).toEqual(Array(5).fill("Stream is not synchronized"));
});

test.each([
  ["level", { level: "error" }],
  ["message", { message: "Blocks are left out" }],
  ["instance", { fields: { ...logEvent().fields, instance: "10.0.0.6:8000" } }],
  ["rank", { fields: { ...logEvent().fields, rank: 1 } }],
  ["reason", { fields: { ...logEvent().fields, reason: "the publisher disconnected" } }],
] satisfies [string, Partial<LogEvent>][])("RepeatFolder never drops the first event of another %s", (_what, parts) => {
  add(5);
  const other = logEvent(parts);
  folder.add(other);
  expect(taken.at(-1)).toBe(other);
});

test("RepeatFolder takes reasons with other numbers, and events with other details, as repeats", () => {
  for (let batch = 1; batch <= 5; batch++) {
    const reason = `gap: batch ${batch} expected, batch ${batch + 10} arrived`;
    folder.add(logEvent({ fields: { ...logEvent().fields, reason, delay_ms: batch } }));
  }
  expect(taken).toHaveLength(2);
});

test("RepeatFolder hands on whatever has a request id", () => {
  for (let n = 0; n < 9; n++) folder.add(logEvent({ message: "Request failed", fields: { request_id: "r-1" } }));
  expect(taken).toHaveLength(9);
});

test("RepeatFolder hands on what its table has no room for, and has room again after a window", () => {
  const kind = (n: number) => logEvent({ message: `kind ${n}` });
  for (let n = 0; n < 3; n++) add(3, kind(n));
  add(4, kind(3));
  expect(taken).toHaveLength(3 * 2 + 4);
  clock.advance(60_000);
  add(4, kind(3));
  expect(messages().slice(10)).toEqual([
    "kind 0, 1 more in 60 s",
    "kind 1, 1 more in 60 s",
    "kind 2, 1 more in 60 s",
    "kind 3",
    "kind 3",
  ]);
});

test("RepeatFolder loses no event: what is handed on and what is counted make up all of them", () => {
  const added = 500;
  for (let n = 0; n < added; n++) {
    folder.add(logEvent({ message: `kind ${(n * 7) % 5}` }));
    clock.advance((n * 37) % 1000);
  }
  folder.flush();
  const counts = messages().map((message) => Number(MORE.exec(message)?.[1] ?? 1));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(added);
  expect(taken.length).toBeLessThan(added / 2);
});

test("RepeatFolder tells at the end of the process what it has counted until then", () => {
  add(4);
  clock.advance(11_200);
  folder.flush();
  folder.flush();
  expect(messages().slice(2)).toEqual(["Stream is not synchronized, 2 more in 12 s"]);
});

test("RepeatFolder tells by itself when no further event comes, each window at its own end", () => {
  jest.useFakeTimers();
  const pass = (durationMs: number) => {
    clock.advance(durationMs);
    jest.advanceTimersByTime(durationMs);
  };
  folder = new RepeatFolder((event) => taken.push(event), clock, REPEAT_LIMITS);
  add(1, logEvent({ message: "early" }));
  pass(20_000);
  add(8, logEvent({ message: "late" }));
  pass(10_000);
  add(8, logEvent({ message: "early" }));
  pass(29_999);
  expect(messages()).toHaveLength(10);
  pass(1);
  expect(messages().slice(10)).toEqual(["early, 4 more in 60 s"]);
  pass(20_000);
  expect(messages().slice(11)).toEqual(["late, 3 more in 60 s"]);
  expect(jest.getTimerCount()).toBe(0);
});

test("RepeatFolder never asks for a timer in the past, of which the runtime warns, when a slow reader outlasts the next window", () => {
  jest.useFakeTimers();
  folder = new RepeatFolder(
    (event) => {
      taken.push(event);
      if (MORE.test(event.message)) clock.advance(100);
    },
    clock,
    LIMITS,
  );
  add(3, logEvent({ message: "early" }));
  clock.advance(10);
  add(3, logEvent({ message: "late" }));
  clock.advance(59_990);
  const timers = spyOn(globalThis, "setTimeout");
  jest.advanceTimersByTime(60_000);
  const durationsMs = timers.mock.calls.map(([, durationMs]) => durationMs);
  timers.mockRestore();
  expect(durationsMs).toEqual([0]);
  jest.advanceTimersByTime(1);
  expect(messages().slice(4)).toEqual(["early, 1 more in 60 s", "late, 1 more in 61 s"]);
});

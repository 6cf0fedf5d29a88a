import type { LogEvent } from "../../src/base/log-event.ts";

/** An event at noon of some day; a stream that is not synchronized, unless other parts are given. */
export function logEvent(parts: Partial<LogEvent> = {}): LogEvent {
  return {
    time: new Date("2026-01-31T12:00:00.000Z"),
    level: "warn",
    message: "Stream is not synchronized",
    fields: { instance: "10.0.0.5:8000", rank: 0, reason: "gap: batch 12 expected, batch 14 arrived" },
    ...parts,
  };
}

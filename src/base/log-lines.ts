/** Log events as lines: text for people, JSON for programs. No value can end its line early or steer a terminal. */

import type { LogEvent, LogLevel } from "./log-event.ts";

/** ANSI: dim, green, yellow, red. */
const COLOURS: Record<LogLevel, number> = { debug: 2, info: 32, warn: 33, error: 31 };

/** Control characters that JSON leaves as they are, line separators, and what turns the direction of writing. */
const UNSAFE = /[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/** `2026-01-31T12:00:00.000Z INFO  Listening host=127.0.0.1 port=8888`; values are JSON strings where they are not plain words. */
export function formatText({ time, level, message, fields }: LogEvent, hasColours = false): string {
  const word = level.toUpperCase().padEnd(5);
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${formatValue(value)}`);
  return `${time.toISOString()} ${hasColours ? `\x1b[${COLOURS[level]}m${word}\x1b[0m` : word} ${message}${pairs.join("")}`;
}

/** `{"time":"2026-01-31T12:00:00.000Z","level":"info","message":"Listening","host":"127.0.0.1","port":8888}`; time is RFC 3339. */
export function formatJson({ time, level, message, fields }: LogEvent): string {
  return safeJson({ time: time.toISOString(), level, message, ...fields });
}

function formatValue(value: string | number | boolean | null): string {
  return typeof value === "string" && !/^[^\s"=\p{C}]+$/u.test(value) ? safeJson(value) : String(value);
}

function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

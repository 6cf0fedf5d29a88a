/** Log lines for the person on call: one line an event, `key=value` fields after the sentence, on standard error. */

export type LogFields = Record<string, string | number | boolean | null>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

type Level = "INFO" | "WARN" | "ERROR";

/** `2026-01-31T12:00:00.000Z INFO  Listening address=127.0.0.1:8888`; values with spaces or quotes are JSON strings. */
export function formatLogLine(time: Date, level: Level, message: string, fields: LogFields = {}): string {
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${time.toISOString()} ${level.padEnd(5)} ${message}${pairs.join("")}`;
}

function formatValue(value: string | number | boolean | null): string {
  return typeof value === "string" && !/^[^\s"=]+$/.test(value) ? JSON.stringify(value) : String(value);
}

export function createLogger(write: (line: string) => void = (line) => console.error(line)): Logger {
  const at = (level: Level) => (message: string, fields?: LogFields) => write(formatLogLine(new Date(), level, message, fields));
  return { info: at("INFO"), warn: at("WARN"), error: at("ERROR") };
}

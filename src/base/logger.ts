/** Where the house says what an operator acts on: one line an event. Who writes the lines, and how, is decided by the process. */

import { LOG_LEVELS, type LogEvent, type LogFields, type LogLevel } from "./log-event.ts";
import { formatText } from "./log-lines.ts";
import { writeStandardError } from "./standard-error.ts";

type Log = (message: string, fields?: LogFields) => void;

export interface Logger {
  /** Absent unless it is asked for: in `logger.debug?.(…)` the arguments cost nothing then. */
  debug?: Log;
  info: Log;
  warn: Log;
  error: Log;
}

/** A logger that hands on every event of `leastLevel` and above. */
export function createEventLogger(take: (event: LogEvent) => void, leastLevel: LogLevel): Logger {
  const isTaken = (level: LogLevel) => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(leastLevel);
  const at = (level: LogLevel): Log =>
    isTaken(level) ? (message, fields = {}) => take({ time: new Date(), level, message, fields }) : () => {};
  const logger = { info: at("info"), warn: at("warn"), error: at("error") };
  return isTaken("debug") ? { debug: at("debug"), ...logger } : logger;
}

/** A logger that writes each event from `info` on as a line of text, repeats too. */
export function createLogger(write: (line: string) => void = writeStandardError): Logger {
  return createEventLogger((event) => write(formatText(event)), "info");
}

/** The log of the process, on standard error: its format, level and colours, and repeats folded into one line. */

import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { systemClock } from "./clock.ts";
import type { LogEvent, LogLevel } from "./log-event.ts";
import { formatJson, formatText } from "./log-lines.ts";
import { createEventLogger, type Logger } from "./logger.ts";
import { RepeatFolder } from "./repeat-folder.ts";
import { STANDARD_ERROR, writeStandardError } from "./standard-error.ts";

export const LOG_FORMATS = ["auto", "text", "json"] as const;

export interface LogSettings {
  logFormat: (typeof LOG_FORMATS)[number];
  logLevel: LogLevel;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Once in a process. Lines are written before the call returns. What is counted but not told when the process ends is told then;
 * at level debug every repeat has its line.
 */
export function createProcessLogger({ logFormat, logLevel }: LogSettings, environment: Environment): Logger {
  const format = lineFormat(logFormat, environment);
  const write = (event: LogEvent) => writeStandardError(format(event));
  if (logLevel === "debug") return createEventLogger(write, logLevel);
  const folder = new RepeatFolder(write, systemClock);
  process.on("exit", () => folder.flush());
  return createEventLogger((event) => folder.add(event), logLevel);
}

/** Auto: text where people read, on a terminal and in the journal; JSON for the programs that read everything else. */
function lineFormat(logFormat: LogSettings["logFormat"], environment: Environment): (event: LogEvent) => string {
  const isTerminal = isatty(STANDARD_ERROR);
  const isText = logFormat === "text" || (logFormat === "auto" && (isTerminal || isJournal(environment.JOURNAL_STREAM)));
  if (!isText) return formatJson;
  const hasColours = isTerminal && !environment.NO_COLOR;
  return (event) => formatText(event, hasColours);
}

/** systemd names the journal's stream as `device:inode`; a process that inherits the variable may write elsewhere. */
function isJournal(stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(STANDARD_ERROR, { bigint: true });
  return stream === `${dev}:${ino}`;
}

import { formatLogLine, type LogFields, type Logger } from "#base";

const EPOCH = new Date(0);

/** Keeps its lines as they would be written, without their times. */
export class RecordingLogger implements Logger {
  readonly lines: string[] = [];

  info(message: string, fields?: LogFields): void {
    this.#write("INFO", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write("WARN", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write("ERROR", message, fields);
  }

  #write(level: "INFO" | "WARN" | "ERROR", message: string, fields?: LogFields): void {
    this.lines.push(formatLogLine(EPOCH, level, message, fields).slice(EPOCH.toISOString().length + 1));
  }

  /** How many lines have this in them. */
  count(text: string): number {
    return this.lines.filter((line) => line.includes(text)).length;
  }
}

import { createLogger, type LogFields, type Logger } from "#base";

const TIME_LENGTH = "2026-01-31T12:00:00.000Z ".length;

/** Keeps its lines as they would be written, without their times. */
export class RecordingLogger implements Logger {
  readonly lines: string[] = [];
  readonly #logger = createLogger((line) => this.lines.push(line.slice(TIME_LENGTH)));

  info(message: string, fields?: LogFields): void {
    this.#logger.info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#logger.warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#logger.error(message, fields);
  }

  /** How many lines have this in them. */
  count(text: string): number {
    return this.lines.filter((line) => line.includes(text)).length;
  }
}

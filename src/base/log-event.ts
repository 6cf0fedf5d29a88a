/** What is said in one log line, before it is text. */

/** From the most talkative on; the README says what each one means to an operator. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Names are snake_case, and none is "time", "level" or "message"; the type refuses capitals. */
export type LogFields = Record<Lowercase<string>, string | number | boolean | null>;

export interface LogEvent {
  time: Date;
  level: LogLevel;
  /** A sentence without its values: equal for equal events. Those are in the fields. */
  message: string;
  fields: LogFields;
}

/** The platform beneath the house: assertions, time, backoff, log lines. Nothing here knows what a KV cache is. */

export { assert } from "./assert.ts";
export { type BackoffLimits, backoffDelayMs } from "./backoff.ts";
export { type Clock, systemClock } from "./clock.ts";
export { LOG_LEVELS, type LogFields } from "./log-event.ts";
export { createLogger, type Logger } from "./logger.ts";
export { createProcessLogger, LOG_FORMATS } from "./process-logger.ts";
export { PROGRAM, SERVE_PROGRAM } from "./program.ts";

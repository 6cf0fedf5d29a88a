/** The platform beneath the house: assertions, time, backoff, log lines. Nothing here knows what a KV cache is. */

export { assert } from "./assert.ts";
export { type BackoffLimits, backoffDelayMs } from "./backoff.ts";
export { type Clock, systemClock } from "./clock.ts";
export { createLogger, formatLogLine, type LogFields, type Logger } from "./logger.ts";

import type { Logger } from "#base";

/** Says nothing. */
export const QUIET: Logger = { info: () => {}, warn: () => {}, error: () => {} };

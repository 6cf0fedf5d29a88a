/** How a command fails: each way has its exit code, which scripts rely on. */

/** 0: done. */
export const DONE = 0;

/** The service answered no: not ready, nothing can serve, the token is wrong, too busy. */
export const REFUSED = 1;

/** The command line, or a file that it names, is wrong. */
export const WRONG_USAGE = 2;

/** Nobody answers there in time, or whoever does is not Warmpath. */
export const UNREACHABLE = 3;

export type ExitCode = typeof DONE | typeof REFUSED | typeof WRONG_USAGE | typeof UNREACHABLE;

/** Ends a command with a message for whoever called it. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    readonly exitCode: Exclude<ExitCode, typeof DONE>,
    message: string,
    /** What the service answered, as JSON; for `--json`. */
    readonly answer: string | null = null,
  ) {
    super(message);
  }
}

export function wrongUsage(message: string): CommandError {
  return new CommandError(WRONG_USAGE, message);
}

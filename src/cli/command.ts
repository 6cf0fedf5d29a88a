/** What a command is: its help, its options, and what it does with Warmpath's door. */

import type { WarmpathDoor } from "./door.ts";
import type { ExitCode } from "./errors.ts";
import type { Options, ReadArguments } from "./options.ts";
import type { Terminal } from "./terminal.ts";

export interface CommandContext {
  given: ReadArguments;
  /** Whether `--json` is given. */
  isJson: boolean;
  door: WarmpathDoor;
  terminal: Terminal;
}

export interface Command {
  name: string;
  /** In a line of the main help. */
  summary: string;
  /** What stands behind the name in its usage line. */
  usage: string;
  /** What it shows, a paragraph each. */
  about: readonly string[];
  /** What its first two exit codes mean; the others are the same for all. */
  done: string;
  refused: string;
  /** Beside those that all commands have. */
  options: Options;
  operandsMax: number;
  /** Throws a CommandError for any other code than the one returned. */
  run(context: CommandContext): Promise<ExitCode>;
}

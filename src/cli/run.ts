/** Runs a command: arguments in, exit code out. */

import { PROGRAM } from "#base";
import { nearestNames } from "#config";
import type { Command } from "./command.ts";
import { COMMON_OPTIONS, readDoorOptions } from "./common-options.ts";
import { WarmpathDoor } from "./door.ts";
import { CommandError, DONE, type ExitCode, WRONG_USAGE } from "./errors.ts";
import { EXPLAIN } from "./explain.ts";
import { HEALTH } from "./health.ts";
import { commandHelp } from "./help.ts";
import { readArguments } from "./options.ts";
import { printable } from "./paint.ts";
import { QUERY } from "./query.ts";
import { STATUS } from "./status.ts";
import { type Environment, ReaderGoneError, type Terminal } from "./terminal.ts";

const COMMANDS_BY_NAME: ReadonlyMap<string, Command> = new Map(
  [STATUS, QUERY, EXPLAIN, HEALTH].map((command) => [command.name, command]),
);

/** For the main help. */
export interface CommandSummary {
  name: string;
  summary: string;
}

export const COMMANDS: readonly CommandSummary[] = [
  { name: "serve", summary: "The service; so does no command at all" },
  ...[...COMMANDS_BY_NAME.values()].map(({ name, summary }) => ({ name, summary })),
];

/** Runs the command `name` with its arguments. Failures are told on the terminal; what is unexpected is thrown. */
export async function runCommand(
  name: string,
  args: readonly string[],
  environment: Environment,
  terminal: Terminal,
): Promise<ExitCode> {
  const command = COMMANDS_BY_NAME.get(name);
  if (command === undefined) {
    terminal.complain(unknownCommand(name));
    return WRONG_USAGE;
  }
  try {
    return await run(command, args, environment, terminal).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      if (error.answer !== null && args.includes("--json")) terminal.write(`${printable(error.answer)}\n`);
      terminal.complain(error.message.split("\n").map(printable).join("\n"));
      return error.exitCode;
    });
  } catch (error) {
    if (error instanceof ReaderGoneError) return DONE;
    throw error;
  }
}

async function run(command: Command, args: readonly string[], environment: Environment, terminal: Terminal): Promise<ExitCode> {
  if (args.includes("--help") || args.includes("-h")) {
    terminal.write(commandHelp(command));
    return DONE;
  }
  const given = readArguments(args, { ...command.options, ...COMMON_OPTIONS }, command.operandsMax);
  const door = new WarmpathDoor(await readDoorOptions(given, environment));
  return command.run({ given, isJson: given.has("json"), door, terminal });
}

function unknownCommand(name: string): string {
  const names = COMMANDS.map((command) => command.name);
  const [nearest] = nearestNames(name, names);
  const suggestion = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  return `Cannot run ${JSON.stringify(name)}: found no such command, needed ${names.join(", ")}${suggestion}; ${PROGRAM} --help lists all`;
}

/**
 * The terminal's commands: each asks a running Warmpath over HTTP and prints the answer, for people or, with `--json`, for programs.
 * They know the door's types and nothing of what is behind it.
 */

export { COMMANDS, type CommandSummary, runCommand } from "./run.ts";
export { processTerminal } from "./terminal.ts";

/** The help of a command, from what it says of itself. */

import { PROGRAM } from "#base";
import type { Command } from "./command.ts";
import { COMMON_OPTIONS } from "./common-options.ts";

const COLUMNS = 80;

/** Ends with a newline; every line fits 80 columns. */
export function commandHelp({ name, usage, about, options, done, refused }: Command): string {
  const titled = Object.entries({ ...options, ...COMMON_OPTIONS }).map(
    ([option, { value, meaning }]) => [value === null ? `--${option}` : `--${option} ${value}`, meaning] as const,
  );
  const exitCodes = [
    ["0", done],
    ["1", refused],
    ["2", "Wrong usage, or a file that cannot be read"],
    ["3", "Warmpath cannot be reached"],
  ] as const;
  return `Usage: ${PROGRAM} ${name} ${usage}

${about.map((paragraph) => Bun.wrapAnsi(paragraph, COLUMNS)).join("\n\n")}

Options:
${definitions(titled)}

Exit codes:
${definitions(exitCodes)}
`;
}

/** A line for each title with its text beside it, which goes on below itself. */
function definitions(entries: readonly (readonly [title: string, text: string])[]): string {
  const width = Math.max(...entries.map(([title]) => title.length));
  const indent = " ".repeat(2 + width + 2);
  return entries
    .map(([title, text]) => {
      const lines = Bun.wrapAnsi(text, COLUMNS - indent.length).replaceAll("\n", `\n${indent}`);
      return `  ${title.padEnd(width)}  ${lines}`;
    })
    .join("\n");
}

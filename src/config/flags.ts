/** Reads command line arguments as flags, without judging their values: `--name VALUE`, `--name=VALUE`, `-` and `_` alike. */

import type { Problem } from "./errors.ts";
import { flagName, Settings } from "./settings.ts";

/** Texts given by flags, by setting, and what cannot be read; of a repeated flag the first value counts. */
export interface Flags {
  given: ReadonlyMap<string, string>;
  problems: Problem[];
}

/**
 * `--help` or `-h` anywhere wins over all else. A value that begins with `--` needs the form with `=`, so that a forgotten
 * value never swallows the next flag.
 */
export function parseFlags(args: readonly string[]): Flags | "help" {
  if (args.includes("--help") || args.includes("-h")) return "help";
  const settings = Object.keys(Settings.properties);
  const given = new Map<string, string>();
  const problems: Problem[] = [];

  for (let position = 0; position < args.length; position++) {
    const argument = args[position] as string;
    const [, name, inlineText] = /^--([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
    if (name === undefined) {
      problems.push({
        setting: `argument ${position + 1}`,
        found: JSON.stringify(argument),
        needed: "a flag such as --host VALUE",
      });
      continue;
    }

    const next = args[position + 1];
    const text = inlineText ?? (next?.startsWith("--") ? undefined : next);
    if (inlineText === undefined && text !== undefined) position++;

    const setting = name.replaceAll("-", "_");
    if (!settings.includes(setting)) {
      problems.push({
        setting: `--${name}`,
        found: "an unknown flag",
        needed: `one of ${settings.map(flagName).join(", ")}, --help`,
      });
    } else if (text === undefined) {
      problems.push({ setting: flagName(setting), found: "no value", needed: `${flagName(setting)} VALUE` });
    } else if (given.has(setting)) {
      problems.push({ setting: flagName(setting), found: "a second value", needed: "the flag once" });
    } else {
      given.set(setting, text);
    }
  }
  return { given, problems };
}

/** Reads command line arguments as flags, without judging their values: `--name VALUE`, `--name=VALUE`, `-` and `_` alike. */

import { KindGuard, type TSchema } from "@sinclair/typebox";
import type { Problem } from "./errors.ts";
import { nearestNames } from "./nearest-names.ts";
import { flagName, Settings } from "./settings.ts";

/** Texts given by flags, by setting, and what cannot be read; of a repeated flag the first value counts. */
export interface Flags {
  given: ReadonlyMap<string, string>;
  problems: Problem[];
}

const SETTINGS: ReadonlyMap<string, TSchema> = new Map(Object.entries(Settings.properties));

/**
 * `--help` or `-h` anywhere wins over all else. A value that begins with `--` needs the form with `=`, so that a forgotten
 * value never swallows the next flag. A flag that is true or false takes no next argument but these two words: alone it is true.
 */
export function parseFlags(args: readonly string[]): Flags | "help" {
  if (args.includes("--help") || args.includes("-h")) return "help";
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

    const setting = name.replaceAll("-", "_");
    const isBoolean = KindGuard.IsBoolean(SETTINGS.get(setting));
    const following = inlineText === undefined ? followingValue(args[position + 1], isBoolean) : undefined;
    if (following !== undefined) position++;
    const text = inlineText ?? following ?? (isBoolean ? "true" : undefined);

    if (!SETTINGS.has(setting)) {
      problems.push({ setting: `--${name}`, found: "an unknown flag", needed: knownFlag(setting) });
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

/** The next argument where it is the flag's value, else undefined. */
function followingValue(next: string | undefined, isBoolean: boolean): string | undefined {
  if (isBoolean) return next === "true" || next === "false" ? next : undefined;
  return next?.startsWith("--") ? undefined : next;
}

function knownFlag(misspelt: string): string {
  const nearest = nearestNames(misspelt, [...SETTINGS.keys(), "help"]).map(flagName);
  return `one that --help lists${nearest.length === 0 ? "" : ` (did you mean ${nearest.join(" or ")}?)`}`;
}

/** The options of a command, read from its arguments: `--name VALUE`, `--name=VALUE`, switches alone. */

import { parseArgs } from "node:util";
import { nearestNames } from "#config";
import { wrongUsage } from "./errors.ts";

interface Option {
  /** What stands for its value in the help; null: a switch, which has none. */
  value: string | null;
  meaning: string;
  /** May be given several times. */
  isList?: true;
}

/** By name, without the dashes. */
export type Options = Readonly<Record<string, Option>>;

export interface ReadArguments {
  /** What stands beside the options: at most as many as the command takes. */
  operands: string[];
  has(name: string): boolean;
  /** The value of an option; null where it is not given. */
  text(name: string): string | null;
  list(name: string): readonly string[];
}

/**
 * Reads a command's arguments. Throws a CommandError (2) with all that is wrong. A value that begins with `--` needs the form with
 * `=`, so that a forgotten value never swallows the next option.
 */
export function readArguments(args: readonly string[], options: Options, operandsMax: number): ReadArguments {
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  const problems: string[] = [];

  const config = Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => [name, { type: value === null ? "boolean" : "string" } as const]),
  );
  const { tokens } = parseArgs({ args: [...args], options: config, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value = null, inlineValue = false } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    const values = given.get(name) ?? [];
    if (option === undefined) {
      problems.push(`${rawName}: found an unknown option, needed one that --help lists${suggestion(name, options)}`);
    } else if (option.value === null) {
      if (value === null) given.set(name, []);
      else problems.push(`${rawName}: found a value, needed the option alone`);
    } else if (value === null || (!inlineValue && value.startsWith("--"))) {
      problems.push(`${rawName}: found no value, needed ${rawName} ${option.value}`);
    } else if (values.length > 0 && !option.isList) {
      problems.push(`${rawName}: found a second value, needed the option once`);
    } else {
      given.set(name, [...values, value]);
    }
  }
  for (const operand of operands.slice(operandsMax)) {
    problems.push(`${JSON.stringify(operand)}: found a further argument, needed ${operandsMax === 0 ? "none" : operandsMax}`);
  }
  if (problems.length > 0) throw wrongUsage(["Cannot read the arguments:", ...problems].join("\n  "));

  return {
    operands,
    has: (name) => given.has(name),
    text: (name) => given.get(name)?.[0] ?? null,
    list: (name) => given.get(name) ?? [],
  };
}

function suggestion(name: string, options: Options): string {
  const nearest = nearestNames(name, [...Object.keys(options), "help"]).map((known) => `--${known}`);
  return nearest.length === 0 ? "" : ` (did you mean ${nearest.join(" or ")}?)`;
}

/** Loads the configuration: the one place of this room that reads a file. */

import { readFile } from "node:fs/promises";
import { camelCased } from "./camel-case.ts";
import type { Config } from "./config.ts";
import { ConfigError } from "./errors.ts";
import { parseFlags } from "./flags.ts";
import { type ParsedKvEvents, parseKvEvents } from "./parse-kv-events.ts";
import { type Environment, settleSettings } from "./settle-settings.ts";

/**
 * The configuration that `args` (without the program's name) and `environment` describe, or "help" when that is asked for.
 * Throws `ConfigError` with every wrong setting of flags, environment and file.
 */
export async function loadConfig(args: readonly string[], environment: Environment): Promise<Config | "help"> {
  const flags = parseFlags(args);
  if (flags === "help") return "help";

  const settled = settleSettings(flags.given, environment);
  const { kv_events_config_file: path } = settled.settings;
  const file = path === "" ? parseKvEvents("{}") : await readKvEvents(path);

  const problems = [...flags.problems, ...settled.problems, ...(file.problems ?? [])];
  if (file.kvEvents === null || problems.length > 0) throw new ConfigError(problems);
  return { ...camelCased(settled.settings), kvEvents: file.kvEvents };
}

async function readKvEvents(path: string): Promise<ParsedKvEvents> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    const found = `${JSON.stringify(path)} (${(error as Error).message})`;
    return {
      kvEvents: null,
      problems: [{ setting: "kv_events_config_file", found, needed: "the path of a readable UTF-8 file" }],
    };
  }

  const parsed = parseKvEvents(text);
  if (parsed.problems === null) return parsed;
  const fileName = JSON.stringify(path);
  const problems = parsed.problems.map(({ setting, ...rest }) => ({
    ...rest,
    setting: setting === "" ? fileName : `${setting} in ${fileName}`,
  }));
  return { kvEvents: null, problems };
}

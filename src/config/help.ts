/** The text of `--help`, generated from the schemas. */

import { PROGRAM, SERVE_PROGRAM } from "#base";
import { KvEventsFile } from "./kv-events-file.ts";
import { type Field, listFields } from "./schema-words.ts";
import { environmentName, flagName, SETTINGS_GROUPS } from "./settings.ts";

/** A command beside serving, in a line. */
export interface CommandLine {
  name: string;
  summary: string;
}

/**
 * The commands, then every setting and every field of the KV events file, with meaning, permitted values and default; ends with a
 * newline.
 */
export function helpText(commands: readonly CommandLine[] = []): string {
  const groups = SETTINGS_GROUPS.map((group) => {
    const settings = listFields(group).map((field) => entry(`${flagName(field.path)}, ${environmentName(field.path)}`, field));
    return `${group.title}:\n\n${settings.join("\n")}`;
  });
  const fileFields = listFields(KvEventsFile).map((field) => entry(field.path, field));
  return `Usage: ${SERVE_PROGRAM} [--flag VALUE | --flag=VALUE]...
${commandLines(commands)}
Warmpath is a KV-cache directory for fleets of LLM engines. Flags may be spelled with underscores. A flag wins over its
environment variable, which wins over the default. A flag that permits true or false means true when it stands alone.

  --help, -h
      Print this text; as the first argument --version prints the version

${groups.join("\n\n")}

Fields of the JSON file that ${flagName("kv_events_config_file")} names, which has either discovery or streams:

${fileFields.join("\n")}
`;
}

function commandLines(commands: readonly CommandLine[]): string {
  if (commands.length === 0) return "";
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `       ${PROGRAM} COMMAND [ARGUMENT]...

Commands, each with a --help of its own:

${lines.join("")}`;
}

function entry(title: string, { meaning, allowed, defaultJson }: Field): string {
  return `  ${title}\n      ${meaning}\n      ${allowed}; ${defaultJson === null ? "required" : `default ${defaultJson}`}`;
}

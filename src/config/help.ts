/** The text of `--help`, generated from the schemas. */

import { KvEventsFile } from "./kv-events-file.ts";
import { type Field, listFields } from "./schema-words.ts";
import { environmentName, flagName, SETTINGS_GROUPS } from "./settings.ts";

/** Every setting and every field of the KV events file, with meaning, permitted values and default; ends with a newline. */
export function helpText(): string {
  const groups = SETTINGS_GROUPS.map((group) => {
    const settings = listFields(group).map((field) => entry(`${flagName(field.path)}, ${environmentName(field.path)}`, field));
    return `${group.title}:\n\n${settings.join("\n")}`;
  });
  const fileFields = listFields(KvEventsFile).map((field) => entry(field.path, field));
  return `Usage: bun run start [--flag VALUE | --flag=VALUE]...

Warmpath is a KV-cache directory for fleets of LLM engines. Flags may be spelled with underscores. A flag wins over its
environment variable, which wins over the default. A flag that permits true or false means true when it stands alone.

  --help, -h
      Print this text

${groups.join("\n\n")}

Fields of the JSON file that ${flagName("kv_events_config_file")} names, which has either discovery or streams:

${fileFields.join("\n")}
`;
}

function entry(title: string, { meaning, allowed, defaultJson }: Field): string {
  return `  ${title}\n      ${meaning}\n      ${allowed}; ${defaultJson === null ? "required" : `default ${defaultJson}`}`;
}

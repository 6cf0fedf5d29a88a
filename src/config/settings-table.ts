/** The settings as the Markdown tables of the README, generated from the schemas. */

import type { TObject } from "@sinclair/typebox";
import { KvEventsFile } from "./kv-events-file.ts";
import { listFields } from "./schema-words.ts";
import { SETTINGS_GROUPS } from "./settings.ts";

/** A table for each group of settings, under a heading of its own, and one of the file's fields; ends with a newline. */
export function settingsTable(): string {
  const groups = SETTINGS_GROUPS.map((group) => `### ${group.title}\n\n${table("Setting", group)}`);
  return `${groups.join("\n")}
Fields of the JSON file that \`kv_events_config_file\` names, which has either \`discovery\` or \`streams\`:

${table("Field", KvEventsFile)}`;
}

function table(heading: string, schema: TObject): string {
  const rows = listFields(schema).map(({ path, defaultJson, allowed, meaning }) => {
    const standard = defaultJson === null ? "required" : `\`${defaultJson}\``;
    return `| \`${path}\` | ${standard} | ${allowed} | ${meaning} |\n`;
  });
  return `| ${heading} | Default | Allowed | Meaning |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

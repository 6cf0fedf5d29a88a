/** Writes the settings tables into README.md: `bun scripts/readme.ts`; with `--check` it only tells whether they are current. */

import { join } from "node:path";
import { settingsTable } from "#config";

const BEGIN = "<!-- settings:begin -->";
const END = "<!-- settings:end -->";

/** `readme` with `table` between the two markers; throws when a marker is missing, repeated or out of order. */
export function replaceSettings(readme: string, table: string): string {
  const [before, fromBegin, ...begins] = readme.split(BEGIN);
  const [, after, ...ends] = fromBegin?.split(END) ?? [];
  if (before === undefined || after === undefined || begins.length > 0 || ends.length > 0 || before.includes(END)) {
    throw new Error(`Cannot place the settings table: found other markers, needed ${BEGIN} and then ${END}, once each`);
  }
  return `${before}${BEGIN}\n\n${table}\n${END}${after}`;
}

if (import.meta.main) {
  const readme = Bun.file(join(import.meta.dir, "..", "README.md"));
  const found = await readme.text();
  const current = replaceSettings(found, settingsTable());
  if (process.argv.includes("--check")) {
    if (found !== current) {
      console.error("README.md has other settings than src/config: run bun scripts/readme.ts");
      process.exit(1);
    }
  } else {
    await readme.write(current);
  }
}

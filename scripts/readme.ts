/** Writes the generated tables into README.md: `bun scripts/readme.ts`; with `--check` it only tells whether they are current. */

import { join } from "node:path";
import { settingsTable } from "#config";
import { metricsTable } from "#metrics";

/** `readme` with `table` between the two markers of `name`; throws when one is missing, repeated or out of order. */
export function replaceTable(readme: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [before, fromBegin, ...begins] = readme.split(begin);
  const [, after, ...ends] = fromBegin?.split(end) ?? [];
  if (before === undefined || after === undefined || begins.length > 0 || ends.length > 0 || before.includes(end)) {
    throw new Error(`Cannot place the ${name} table: found other markers, needed ${begin} and then ${end}, once each`);
  }
  return `${before}${begin}\n\n${table}\n${end}${after}`;
}

if (import.meta.main) {
  const readme = Bun.file(join(import.meta.dir, "..", "README.md"));
  const found = await readme.text();
  const current = replaceTable(replaceTable(found, "settings", settingsTable()), "metrics", metricsTable());
  if (process.argv.includes("--check")) {
    if (found !== current) {
      console.error("README.md has other tables than src/config and src/metrics: run bun scripts/readme.ts");
      process.exit(1);
    }
  } else {
    await readme.write(current);
  }
}

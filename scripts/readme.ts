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

/** The short table of the fleet comparison, as `bench:fleet --write` left it in its results. */
export function comparisonTable(results: string): string {
  const table = /^## In short\n\n((?:\|.*\n)+)/m.exec(results)?.[1];
  if (table === undefined) throw new Error('Cannot read the comparison: found no table under "## In short", which is needed');
  return table;
}

if (import.meta.main) {
  const root = join(import.meta.dir, "..");
  const readme = Bun.file(join(root, "README.md"));
  const tables = {
    settings: settingsTable(),
    metrics: metricsTable(),
    comparison: comparisonTable(await Bun.file(join(root, "test/bench-fleet/results.md")).text()),
  };
  const found = await readme.text();
  let current = found;
  for (const [name, table] of Object.entries(tables)) current = replaceTable(current, name, table);
  if (process.argv.includes("--check")) {
    if (found !== current) {
      console.error("README.md has other tables than src/config, src/metrics and test/bench-fleet: run bun scripts/readme.ts");
      process.exit(1);
    }
  } else {
    await readme.write(current);
  }
}

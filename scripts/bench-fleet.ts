/**
 * `bun run bench:fleet [--small] [--write]`: replays Mooncake's traces through Warmpath's index and policies to simulated fleets, and
 * prints how each router fares. `--write` puts that into test/bench-fleet/results.md, from where scripts/readme.ts takes the short
 * table, and draws it into test/bench-fleet/plots; `--small` replays the traces' beginnings.
 */

import { join } from "node:path";
import { parseArgs } from "node:util";
import { compare, FULL_PLAN, type Result, SMALL_PLAN } from "../test/bench-fleet/comparison.ts";
import { drawPlots } from "../test/bench-fleet/plots.ts";
import { formatReport } from "../test/bench-fleet/report.ts";
import { buildKernel } from "./build-kernel.ts";

const DIRECTORY = join(import.meta.dir, "..", "test", "bench-fleet");

const { small = false, write = false } = parseArgs({
  options: { small: { type: "boolean" }, write: { type: "boolean" } },
}).values;
const plan = small ? SMALL_PLAN : FULL_PLAN;

await buildKernel();
const results: Result[] = [];
for await (const result of compare(plan)) {
  results.push(result);
  console.error(`Simulated ${results.length} of ${plan.settings.length} settings`);
}
const report = formatReport(results);
console.log(report);
if (write) {
  await Bun.write(join(DIRECTORY, "results.md"), report);
  for (const { fileName, svg } of drawPlots(results)) await Bun.write(join(DIRECTORY, "plots", fileName), svg);
}

/**
 * `bun run soak [--minutes 10] [--seed N] [--policy CAR] [--executable PATH]`: keeps a fleet in unrest and the service under full load
 * for so long, and tells what is larger afterwards than it was after the first minute. Exit code 1: something is, or an answer was
 * none that is documented.
 */

import { parseArgs } from "node:util";
import { comparisonTable, hasGrown } from "../test/soak/comparison.ts";
import { STRICT } from "../test/soak/look.ts";
import { fullPlan, isSoakPolicy } from "../test/soak/plan.ts";
import { runSoak } from "../test/soak/soak.ts";
import { buildKernel } from "./build-kernel.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
    policy: { type: "string", default: "CAR" },
    executable: { type: "string" },
  },
});
const { policy, executable = null } = values;
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0) || !Number.isInteger(seed) || !isSoakPolicy(policy)) {
  console.error("Cannot soak: --minutes above 0, --seed with an integer and --policy CAR, SLO_AWARE or RR are needed");
  process.exit(2);
}

await buildKernel();
const { quantities, report, errorLines, exitCode } = await runSoak(
  fullPlan(minutes, { seed, policy, executable }),
  STRICT,
  console.error,
);
const grown = quantities.filter(hasGrown);
const entries = (counts: Record<string, number>) => Object.entries(counts).toSorted(([one], [other]) => (one < other ? -1 : 1));
for (const [name, count] of [...entries(report.events), ...entries(report.answers)]) console.log(`${name}: ${count}`);
console.log(`\n${comparisonTable(quantities)}\n`);
for (const violation of report.violations) console.log(`Not as documented: ${violation}`);
for (const line of errorLines) console.log(`Logged: ${line}`);
if (exitCode !== 0) console.log(`The service ended with exit code ${exitCode}`);
console.log(
  `${grown.length} of ${quantities.length} quantities have grown, ${report.violations.length} answers were not as documented`,
);
process.exit(grown.length + report.violations.length + errorLines.length + exitCode === 0 ? 0 : 1);

/**
 * `bun run bench [--only TEXT] [--small]`: measures what Warmpath promises about its speed and prints a table. `--only` keeps the
 * rows whose names contain the text; `--small` runs at toy sizes, of which no target speaks.
 */

import { parseArgs } from "node:util";
import { watchInterference } from "../test/bench/interference.ts";
import { describeMachine } from "../test/bench/machine.ts";
import type { Row } from "../test/bench/question.ts";
import { formatInterference, formatMachine, formatTable } from "../test/bench/report.ts";
import { FULL_SCALE, SMALL_SCALE } from "../test/bench/scale.ts";
import { rowNames, runBench } from "../test/bench/suite.ts";
import { buildKernel } from "./build-kernel.ts";

/** Long enough for some hundred slices of a scheduler. */
const INTERFERENCE_MS = 1000;

const { only, small = false } = parseArgs({ options: { only: { type: "string" }, small: { type: "boolean" } } }).values;
const scale = small ? SMALL_SCALE : FULL_SCALE;

await buildKernel();
const rows: Row[] = [];
for await (const row of runBench(scale, only)) {
  console.error(`Measured ${row.what}`);
  rows.push(row);
}
if (rows.length === 0) {
  console.error(
    `Cannot measure ${JSON.stringify(only)}: no row's name contains it, one of these does\n${rowNames(scale).join("\n")}`,
  );
  process.exit(2);
}
console.log(formatMachine(describeMachine()));
console.log(`${formatInterference(watchInterference(INTERFERENCE_MS))}\n`);
console.log(formatTable(rows, !small));

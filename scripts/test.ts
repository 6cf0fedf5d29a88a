/** The test command: builds the kernel, runs the suite, and ends with one line that counts it. Arguments go to `bun test`. */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildKernel } from "./build-kernel.ts";

await buildKernel();

const report = join(tmpdir(), `warmpath-tests-${process.pid}.xml`);
const run = Bun.spawnSync(
  [process.execPath, "test", "--reporter=junit", `--reporter-outfile=${report}`, ...process.argv.slice(2)],
  { stdio: ["inherit", "inherit", "inherit"] },
);

const summary = /<testsuites[^>]*>/.exec(await Bun.file(report).text())?.[0] ?? "";
await Bun.file(report).delete();
const count = (attribute: string) => Number(new RegExp(`\\b${attribute}="(\\d+)"`).exec(summary)?.[1] ?? 0);
const failed = count("failures") + count("errors");
const skipped = count("skipped");
console.log(`${count("tests") - failed - skipped} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(run.exitCode);

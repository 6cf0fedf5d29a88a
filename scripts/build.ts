/**
 * `bun run build [--target NAME]… [--out FOLDER]`: makes Warmpath a single executable, for this platform unless targets are named;
 * `--target all` makes every one. Prints how large each is, and how soon the one for this platform answers.
 */

import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable, isTarget, TARGETS, type Target } from "./executable.ts";
import { measureFirstAnswer } from "./first-answer.ts";

const THIS_PLATFORM = `${process.platform}-${process.arch}`;

/** Odd: the one in the middle is told. */
const STARTS = 5;

const { target: names = [THIS_PLATFORM], out } = parseArgs({
  options: {
    target: { type: "string", multiple: true },
    out: { type: "string", default: join(import.meta.dir, "..", "dist") },
  },
}).values;

for (const target of names.includes("all") ? TARGETS : names.map(toTarget)) {
  const path = await buildExecutable(target, out);
  const size = `${(Bun.file(path).size / 1e6).toFixed(0)} MB`;
  console.log(`${relative(process.cwd(), path)}: ${size}${target === THIS_PLATFORM ? `, ${await describeStart(path)}` : ""}`);
}

async function describeStart(path: string): Promise<string> {
  const times: number[] = [];
  for (let n = 0; n < STARTS; n++) times.push(await measureFirstAnswer(path));
  return `first answer ${times.sort((one, other) => one - other)[(STARTS - 1) / 2]?.toFixed(0)} ms after its start`;
}

function toTarget(name: string): Target {
  if (isTarget(name)) return name;
  console.error(`Cannot build for ${JSON.stringify(name)}: ${TARGETS.join(", ")} or all is needed`);
  process.exit(2);
}

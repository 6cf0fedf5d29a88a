/**
 * Makes what the package has beside its sources: the index kernel, and declarations, so that a program that depends on it is
 * checked against its types and not with its sources. `bun pm pack` runs it.
 */

import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { imports } from "../package.json";
import { buildKernel } from "./build-kernel.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const TYPES = `${ROOT}dist/types/`;

/** Declarations name the rooms as the sources do; a package.json of their own leads those names to declarations. */
function declarationsPackage(): object {
  const rooms = Object.entries(imports).map(([room, source]) => [room, source.replace(/\.ts$/, ".d.ts")]);
  return { type: "module", imports: Object.fromEntries(rooms) };
}

await buildKernel();
await rm(TYPES, { recursive: true, force: true });
const { exitCode } = Bun.spawnSync(["bunx", "tsc", "--project", "tsconfig.package.json"], {
  cwd: ROOT,
  // What a prepack script writes to standard output may be taken for the name of the package's file.
  stdio: ["ignore", 2, 2],
});
if (exitCode !== 0) process.exit(1);
await Bun.write(`${TYPES}package.json`, `${JSON.stringify(declarationsPackage(), null, 2)}\n`);

/** Compiles the index kernel from AssemblyScript to WebAssembly, unless the result on disk was made from the same sources. */

import { fileURLToPath } from "node:url";

const KERNEL = fileURLToPath(new URL("../src/index/kernel/", import.meta.url));
const OUTPUT = `${KERNEL}kernel.wasm`;
const STAMP = `${KERNEL}kernel.wasm.sources`;

/** WebAssembly's largest memory, 4 GiB; the index chooses its initial size itself and never declares less. */
const MEMORY_PAGES_MAX = 65_536;

const OPTIONS = [
  ["-O3", "--noAssert", "--runtime", "stub"],
  ["--enable", "simd,threads,bulk-memory"],
  ["--importMemory", "--sharedMemory", "--initialMemory", "16", "--maximumMemory", String(MEMORY_PAGES_MAX)],
].flat();

async function sourcesDigest(): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(OPTIONS.join(" "));
  const names = await Array.fromAsync(new Bun.Glob("assembly/*.ts").scan(KERNEL));
  for (const name of names.sort()) hasher.update(`${name}\n${await Bun.file(KERNEL + name).text()}`);
  return hasher.digest("hex");
}

/** Builds if needed; throws with the compiler's own messages when the sources do not compile. */
export async function buildKernel(): Promise<"built" | "current"> {
  const digest = await sourcesDigest();
  const stamp = Bun.file(STAMP);
  if ((await stamp.exists()) && (await Bun.file(OUTPUT).exists()) && (await stamp.text()) === digest) return "current";
  const { default: compiler } = await import("assemblyscript/asc");
  const { error, stderr } = await compiler.main(["assembly/kernel.ts", "--baseDir", KERNEL, "-o", "kernel.wasm", ...OPTIONS]);
  if (error) throw new Error(`Cannot build the index kernel: ${error.message}\n${stderr}`);
  await Bun.write(STAMP, digest);
  return "built";
}

if (import.meta.main) console.error(`Index kernel: ${await buildKernel()}`);

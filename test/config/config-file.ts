/** Configuration files for tests, each in the system's temporary folder. */

import { afterAll } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = await mkdtemp(join(tmpdir(), "warmpath-config-"));
let fileCount = 0;

afterAll(() => rm(folder, { recursive: true }));

/** Writes a new file and returns its path. */
export async function configFile(content: string | Uint8Array): Promise<string> {
  const path = join(folder, `${++fileCount}.json`);
  await writeFile(path, content);
  return path;
}

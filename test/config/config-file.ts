/** Configuration files for tests, in the system's temporary folder. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string | null = null;
let fileCount = 0;

/** Writes a new file and returns its path. Whoever calls this has `removeConfigFiles` called after all of its tests. */
export async function configFile(content: string | Uint8Array): Promise<string> {
  folder ??= await mkdtemp(join(tmpdir(), "warmpath-config-"));
  const path = join(folder, `${++fileCount}.json`);
  await writeFile(path, content);
  return path;
}

/** For `afterAll`. */
export async function removeConfigFiles(): Promise<void> {
  if (folder !== null) await rm(folder, { recursive: true });
  folder = null;
}

/** Files that settings name. */

import { readFile } from "node:fs/promises";

/** The text of a UTF-8 file; or, as a problem says it, what was found instead. */
export type TextFile = { text: string; found: null } | { text: null; found: string };

export async function readTextFile(path: string): Promise<TextFile> {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path)), found: null };
  } catch (error) {
    return { text: null, found: `${JSON.stringify(path)} (${(error as Error).message})` };
  }
}

/** Warmpath's own CURVE key. Only a file gives it: on a command line, or in an environment, others on the machine could read it. */

import { CURVE_KEY_CHARACTERS, isCurveKey } from "#domain";
import type { Problem } from "./errors.ts";
import { flagName } from "./settings.ts";
import type { SettledSettings } from "./settle-settings.ts";
import { readTextFile } from "./text-file.ts";

/** Null where no file is named. White space around the key, such as the newline at a file's end, does not count. */
export async function readCurveSecretKey({ settings, sources }: SettledSettings): Promise<{
  curveSecretKey: string | null;
  problems: Problem[];
}> {
  const { curve_secret_key_file: path = "" } = settings;
  if (path === "") return { curveSecretKey: null, problems: [] };
  const file = await readTextFile(path);
  const key = file.text?.trim() ?? "";
  if (isCurveKey(key)) return { curveSecretKey: key, problems: [] };
  const setting = sources.get("curve_secret_key_file") ?? flagName("curve_secret_key_file");
  const found = file.found ?? `${JSON.stringify(path)} with a content that is not shown`;
  const needed = `a file with a secret CURVE key and nothing else, ${CURVE_KEY_CHARACTERS} characters of Z85`;
  return { curveSecretKey: null, problems: [{ setting, found, needed }] };
}

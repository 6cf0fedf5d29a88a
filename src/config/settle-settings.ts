/** Settles the settings from flags, then environment, then defaults; what is overridden is not judged. */

import { KindGuard, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Problem } from "./errors.ts";
import { allowedValues } from "./schema-words.ts";
import { environmentName, flagName, Settings } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** All settings, and what is wrong with them; a wrong one has its default meanwhile, so that the rest can be judged too. */
export function settleSettings(
  given: ReadonlyMap<string, string>,
  environment: Environment,
): { settings: Settings; problems: Problem[] } {
  const accepted: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [setting, schema] of Object.entries(Settings.properties)) {
    const source = given.has(setting) ? flagName(setting) : environmentName(setting);
    const text = given.get(setting) ?? environment[source];
    if (text === undefined) continue;
    const value = readValue(schema, text);
    if (Value.Check(schema, value)) {
      accepted[setting] = value;
    } else {
      const found = schema.writeOnly ? "a secret that is not shown" : JSON.stringify(text);
      problems.push({ setting: source, found, needed: allowedValues(schema) });
    }
  }
  return { settings: Value.Default(Settings, accepted) as Settings, problems };
}

/** Text that does not read as the schema's type stays text, which the schema then refuses. */
function readValue(schema: TSchema, text: string): unknown {
  return KindGuard.IsInteger(schema) && /^-?\d+$/.test(text) ? Number(text) : text;
}

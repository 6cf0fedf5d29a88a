/** Settles the settings from flags, then environment, then defaults; what is overridden is not judged. */

import { KindGuard, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Problem } from "./errors.ts";
import { allowedValues } from "./schema-words.ts";
import { environmentName, flagName, Settings } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SettledSettings {
  /** Every setting that is right by itself, given or by default; without problems that is every one. */
  settings: Partial<Settings>;
  /** Where the given ones were found: `--host`, `WARMPATH_HOST`. */
  sources: ReadonlyMap<string, string>;
  problems: Problem[];
}

/** All settings that are right, and what is wrong with the others. */
export function settleSettings(given: ReadonlyMap<string, string>, environment: Environment): SettledSettings {
  const settings: Record<string, unknown> = {};
  const sources = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [setting, schema] of Object.entries(Settings.properties)) {
    const source = given.has(setting) ? flagName(setting) : environmentName(setting);
    const text = given.get(setting) ?? environment[source];
    if (text === undefined) {
      settings[setting] = schema.default;
      continue;
    }
    sources.set(setting, source);
    const value = readValue(schema, text);
    if (Value.Check(schema, value)) {
      settings[setting] = value;
    } else {
      const found = schema.writeOnly ? "a secret that is not shown" : JSON.stringify(withoutUserInfo(text));
      problems.push({ setting: source, found, needed: allowedValues(schema) });
    }
  }
  return { settings, sources, problems };
}

/**
 * An address may carry `user:password@`. Wherever that ends, the last `@` is behind it: of `http://a:b@c:1,http://d:e@f:2`
 * only `http://***@f:2` is shown.
 */
function withoutUserInfo(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, "$1***@");
}

/** As JSON spells it: no sign but minus, no hexadecimal, no infinity. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Text that does not read as the schema's type stays text, which the schema then refuses. */
function readValue(schema: TSchema, text: string): unknown {
  if (KindGuard.IsInteger(schema) && /^-?\d+$/.test(text)) return Number(text);
  if (KindGuard.IsNumber(schema) && JSON_NUMBER.test(text)) return Number(text);
  if (KindGuard.IsBoolean(schema) && (text === "true" || text === "false")) return text === "true";
  return text;
}

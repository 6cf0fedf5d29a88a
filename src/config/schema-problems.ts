/** Turns what TypeBox finds wrong with a value into problems: one for each place, worded by the schema of that place. */

import type { TSchema } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import type { Problem } from "./errors.ts";
import { allowedValues } from "./schema-words.ts";

/** Everything in `value` that `schema` does not permit; `setting` is the path of the place, empty for `value` itself. */
export function schemaProblems(schema: TSchema, value: unknown): Problem[] {
  // TypeBox reports some places twice, as a missing field that is also not of its type: by path they are one.
  const byPath = new Map<string, ValueError>();
  for (const error of Value.Errors(schema, value)) byPath.set(error.path, error);
  return [...byPath.values()].map(problemOf);
}

function problemOf({ type, path, schema, value }: ValueError): Problem {
  const setting = fieldPath(path);
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    return { setting, found: "an unknown field", needed: `one of ${Object.keys(schema.properties).join(", ")}` };
  }
  return { setting, found: describeFound(value), needed: allowedValues(schema) };
}

/** JSON pointer to path: `/streams/1/endpoint` → `streams[1].endpoint`. */
function fieldPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`), "");
}

function describeFound(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

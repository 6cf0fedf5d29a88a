/** Checks the fields of a request against their schema, and says of each wrong one what was found and what is allowed. */

import type { Static, TObject } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { excerpt, excerptText, Problem, type ProblemError } from "./problem.ts";

/** Enough to mend a request by; a body of a million wrong fields gets no longer an answer. */
const ERRORS_MAX = 16;

/** What is wrong with one field, and which. */
export type FieldError = ProblemError & { pointer: string };

/**
 * Compiles `schema` to a check that returns the fields typed, or throws a 422 problem. A known field that is null counts as
 * absent. Every schema within it needs a `description` that says what is allowed; `otherFields` are fields known elsewhere.
 */
export function createFieldsCheck<T extends TObject>(
  schema: T,
  otherFields: string[],
): (fields: Record<string, unknown>) => Static<T> {
  const compiled = TypeCompiler.Compile(schema);
  const names = [...otherFields, ...Object.keys(schema.properties)].join(", ");
  return (fields) => {
    const isPresent = ([name, value]: [string, unknown]) => value !== null || !Object.hasOwn(schema.properties, name);
    const present = Object.fromEntries(Object.entries(fields).filter(isPresent));
    if (compiled.Check(present)) return present;
    const errors = new Map<string, FieldError>();
    for (const found of compiled.Errors(present)) {
      if (errors.size === ERRORS_MAX) break;
      const error = deepestError(found);
      if (!errors.has(error.path)) errors.set(error.path, { pointer: error.path, detail: describe(error, names) });
    }
    throw invalidFields([...errors.values()]);
  };
}

/** The 422 problem of these fields, of which there is at least one; what is beyond the limit is left out. */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const shown = errors.slice(0, ERRORS_MAX);
  const detail = shown.map((error) => `${excerptText(error.pointer)}: ${error.detail}`).join("; ");
  return new Problem("invalid-fields", { detail: `Cannot read ${detail}`, errors: shown });
}

/** Of a value that fits no variant of a union, what is wrong within the variant that fits it from outside, if one does. */
function deepestError(error: ValueError): ValueError {
  for (const variantErrors of error.errors) {
    const first = variantErrors.First();
    if (first !== undefined && first.path !== error.path) return deepestError(first);
  }
  return error;
}

function describe(error: ValueError, names: string): string {
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return `found an unknown field, allowed are ${names}`;
  const found = error.value === undefined ? "no such field" : excerpt(error.value);
  return `found ${found}, ${error.schema.description}`;
}

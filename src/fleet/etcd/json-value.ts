/** JSON from etcd, checked by a schema: the value, or one sentence on what is wrong with it. */

import type { Static, TObject } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";

export type ReadValue<Value> = { kind: "value"; value: Value } | { kind: "problem"; reason: string };

/** Far above any registration; reading this much takes some milliseconds. etcd itself takes 1.5 MiB. */
const VALUE_BYTES_MAX = 1024 * 1024;

/** Characters of a wrong value that a reason shows. */
const SHOWN_LENGTH_MAX = 60;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads objects of the schema, each of whose properties says in its `description` what is needed. */
export function createJsonReader<Schema extends TObject>(schema: Schema): (bytes: Uint8Array) => ReadValue<Static<Schema>> {
  const checker = TypeCompiler.Compile(schema);
  return (bytes) => {
    if (bytes.length > VALUE_BYTES_MAX) {
      return problem(`the value has ${bytes.length} bytes, at most ${VALUE_BYTES_MAX} are allowed`);
    }
    const value = parseJson(bytes);
    if (value === undefined) return problem(`the value is ${shown(lossyText(bytes))}, JSON is needed`);
    if (checker.Check(value)) return { kind: "value", value };
    return problem(firstProblem(checker, schema, value));
  };
}

/** Undefined for what is no JSON, which has no such value. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** Names the field that is wrong as a whole: a wrong number deep in a list is best found by its list. */
function firstProblem(checker: TypeCheck<TObject>, schema: TObject, value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `the value is ${shown(JSON.stringify(value))}, a JSON object is needed`;
  }
  const fields = value as Record<string, unknown>;
  const wrong = checker.Errors(value).First();
  const field = wrong?.path.split("/")[1] ?? "";
  const found = field in fields ? `is ${shown(JSON.stringify(fields[field]))}` : "is missing";
  return `${field} ${found}, ${schema.properties[field]?.description} is needed`;
}

function lossyText(bytes: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(bytes.subarray(0, SHOWN_LENGTH_MAX)));
}

function shown(text: string): string {
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}

function problem(reason: string): { kind: "problem"; reason: string } {
  return { kind: "problem", reason };
}

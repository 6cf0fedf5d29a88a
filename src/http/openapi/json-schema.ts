/** From the schemas of routes to JSON Schema 2020-12 as OpenAPI 3.1 has it: what our checks take and our answers are, in plain words. */

export type JsonSchema = { [keyword: string]: unknown };

/** A copy of `schema` without what only Elysia understands; nothing of it is shared. */
export function plainSchema(schema: unknown): JsonSchema {
  return plain(JSON.parse(JSON.stringify(schema))) as JsonSchema;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
  return plainTuple(plainEnum(plainNumber(withoutMarks(members))));
}

/** Answers that are not validated carry a mark. */
function withoutMarks({ noValidate: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Elysia's integer is one or its text, as a query parameter has it; in bodies only the integer is meant. */
function plainNumber({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return schema;
  const [text, number] = anyOf;
  const isNumberOrText = anyOf.length === 2 && text.type === "string" && text.format === number.type;
  return isNumberOrText ? { ...number, ...schema } : { ...schema, anyOf };
}

/** A list of words and truth values has no one type. */
function plainEnum({ type, ...schema }: JsonSchema): JsonSchema {
  if (type === undefined) return schema;
  const isMixed = Array.isArray(schema.enum) && schema.enum.some((word) => typeof word !== type);
  return isMixed ? schema : { type, ...schema };
}

function plainTuple({ items, additionalItems, ...schema }: JsonSchema): JsonSchema {
  if (items === undefined) return schema;
  return Array.isArray(items) ? { ...schema, prefixItems: items, items: additionalItems ?? true } : { ...schema, items };
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}

/** A schema as a few indented lines that a person reads: names, kinds, and what is said of each. */

import type { JsonSchema } from "./json-schema.ts";

/** One line for each member, those that may be absent with a question mark. */
export function describeShape(schema: JsonSchema, indent = ""): string {
  const { anyOf, properties, items, prefixItems } = schema;
  const inner = `${indent}  `;
  if (Array.isArray(anyOf)) return anyOf.map((variant) => describeShape(variant, indent)).join(" | ");
  if (properties !== undefined) return describeMembers(schema, properties as Record<string, JsonSchema>, indent) + orNull(schema);
  if (Array.isArray(prefixItems)) return `[${prefixItems.map((item) => describeShape(item, inner)).join(", ")}]`;
  if (items !== undefined) return `[ ${describeShape(items as JsonSchema, indent)}, … ]`;
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.type === undefined) return "any";
  return Array.isArray(schema.type) ? schema.type.join(" | ") : String(schema.type);
}

function describeMembers({ required }: JsonSchema, properties: Record<string, JsonSchema>, indent: string): string {
  const inner = `${indent}  `;
  const needed = new Set(Array.isArray(required) ? required : []);
  const lines = Object.entries(properties).map(([name, member]) => {
    const note = member.description === undefined ? "" : `  // ${member.description}`;
    return `${inner}${name}${needed.has(name) ? "" : "?"}: ${describeShape(member, inner)}${note}`;
  });
  return `{\n${lines.join("\n")}\n${indent}}`;
}

function orNull({ type }: JsonSchema): string {
  return Array.isArray(type) && type.includes("null") ? " | null" : "";
}

/** What a schema permits, in words, and its fields in a row: the part that messages, `--help` and the README's table share. */

import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";

/** The values that a schema permits, as a message says after "needed": `an integer from 1 to 128`. */
export function allowedValues(schema: TSchema): string {
  if (typeof schema.allowed === "string") return schema.allowed;
  if (KindGuard.IsInteger(schema)) return `an integer from ${schema.minimum} to ${schema.maximum}`;
  if (KindGuard.IsNumber(schema)) return `a number from ${schema.minimum} to ${schema.maximum}`;
  if (KindGuard.IsBoolean(schema)) return "true or false";
  if (KindGuard.IsLiteral(schema)) return JSON.stringify(schema.const);
  if (KindGuard.IsUnion(schema)) return schema.anyOf.map(allowedValues).join(" or ");
  if (KindGuard.IsObject(schema)) return "an object";
  if (KindGuard.IsArray(schema)) return "an array";
  if (KindGuard.IsString(schema)) return schema.minLength === undefined ? "a string" : "a nonempty string";
  throw new TypeError(`Cannot describe a schema: found kind ${JSON.stringify(schema.type)}, needed one that allowedValues knows`);
}

/** One line of a settings table. */
export interface Field {
  /** Path from the top: `host`, `discovery.topic`, `streams[].endpoint`. */
  path: string;
  /** Null for a field that has no default and must be given. */
  defaultJson: string | null;
  allowed: string;
  meaning: string;
}

/** Every field of an object that is not itself an object, depth first, in the order of the schema. */
export function listFields(schema: TObject, parentPath = ""): Field[] {
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const path = parentPath + name;
    if (KindGuard.IsObject(property)) return listFields(property, `${path}.`);
    if (KindGuard.IsArray(property) && KindGuard.IsObject(property.items)) return listFields(property.items, `${path}[].`);
    return {
      path,
      defaultJson: property.default === undefined ? null : JSON.stringify(property.default),
      allowed: allowedValues(property),
      meaning: property.description ?? "",
    };
  });
}

/**
 * Holds a value against a JSON Schema, as far as our documents use it. Stricter than the standard in one point: a member that the
 * schema does not name is a mistake unless it allows others, since a document that leaves members out is not complete.
 */

type Schema = { [keyword: string]: unknown };

const ANNOTATIONS = new Set(["description", "title", "examples", "format", "contentMediaType", "default"]);

/** What is wrong, each with its place; nothing where the value is as the schema says. Throws at a keyword that it does not know. */
export function schemaMistakes(value: unknown, schema: Schema, root: Schema, place = ""): string[] {
  const wrong = (needed: string) => [`${place || "/"}: found ${JSON.stringify(value)?.slice(0, 80)}, needed ${needed}`];
  const within = (inner: unknown, innerSchema: unknown, name: string | number) =>
    schemaMistakes(inner, innerSchema as Schema, root, `${place}/${name}`);
  const checks: Record<string, (needed: never) => string[]> = {
    $ref: (path: string) => schemaMistakes(value, resolve(root, path), root, place),
    type: (types: string | string[]) => ([types].flat().some((type) => isOfType(value, type)) ? [] : wrong(`type ${types}`)),
    enum: (words: unknown[]) => (words.includes(value) ? [] : wrong(`one of ${words}`)),
    const: (only: unknown) => (value === only ? [] : wrong(String(only))),
    anyOf: (variants: Schema[]) => {
      const mistakes = variants.map((variant) => schemaMistakes(value, variant, root, place));
      return mistakes.some((found) => found.length === 0) ? [] : mistakes.flat();
    },
    required: (names: string[]) => {
      const missing = isObject(value) ? names.filter((name) => !(name in value)) : [];
      return missing.flatMap((name) => wrong(`member ${name}`));
    },
    properties: (properties: Schema) => {
      if (!isObject(value)) return [];
      const allowsOthers = schema.additionalProperties === true;
      return Object.entries(value).flatMap(([name, member]) => {
        if (name in properties) return within(member, properties[name], name);
        return allowsOthers ? [] : wrong(`no member ${name}`);
      });
    },
    additionalProperties: () => [],
    patternProperties: () => [],
    prefixItems: (items: Schema[]) => (Array.isArray(value) ? items.flatMap((item, at) => within(value[at], item, at)) : []),
    items: (item: Schema | false) => {
      if (!Array.isArray(value)) return [];
      const rest = value.slice(Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0);
      if (item === false) return rest.length === 0 ? [] : wrong("no further item");
      return rest.flatMap((member, at) => within(member, item, at));
    },
    minItems: (least: number) => (!Array.isArray(value) || value.length >= least ? [] : wrong(`${least} items or more`)),
    maxItems: (most: number) => (!Array.isArray(value) || value.length <= most ? [] : wrong(`${most} items or fewer`)),
    minimum: (least: number) => (typeof value !== "number" || value >= least ? [] : wrong(`${least} or more`)),
    maximum: (most: number) => (typeof value !== "number" || value <= most ? [] : wrong(`${most} or less`)),
    minLength: (least: number) =>
      typeof value !== "string" || value.length >= least ? [] : wrong(`${least} characters or more`),
    maxLength: (most: number) => (typeof value !== "string" || value.length <= most ? [] : wrong(`${most} characters or fewer`)),
    pattern: (pattern: string) => (typeof value !== "string" || new RegExp(pattern, "u").test(value) ? [] : wrong(pattern)),
  };
  return Object.entries(schema).flatMap(([keyword, needed]) => {
    if (ANNOTATIONS.has(keyword)) return [];
    const check = checks[keyword];
    if (check === undefined) throw new Error(`Cannot check ${place}: the keyword ${keyword} is not known`);
    return check(needed as never);
  });
}

function resolve(root: Schema, path: string): Schema {
  return path
    .split("/")
    .slice(1)
    .reduce((found, name) => found[name] as Schema, root);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Between the outside's snake_case and the house's camelCase, for names in types and in values alike. */

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** `T` with every field name in camelCase, at every depth. */
export type CamelCased<T> = T extends readonly (infer Item)[]
  ? CamelCased<Item>[]
  : T extends object
    ? { [Name in keyof T as CamelCase<Name & string>]: CamelCased<T[Name]> }
    : T;

/** Copies plain data (objects, arrays, scalars) with camelCase field names. */
export function camelCased<T>(value: T): CamelCased<T> {
  return renamed(value) as CamelCased<T>;
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [camelCase(name), renamed(field)]));
}

function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

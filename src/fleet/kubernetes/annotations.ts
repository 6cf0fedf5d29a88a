/** The `warmpath.io/` annotations of a pod: what each may say, and what a pod without it means. */

import {
  BLOCK_SIZE_MAX,
  CURVE_KEY_CHARACTERS,
  ENGINES,
  type Engine,
  HASH_SEED_DEFAULT,
  HASH_SEED_MAX,
  isCurveKey,
  RANKS_MAX,
  ROLES,
  type Role,
} from "#domain";

const ANNOTATION_PREFIX = "warmpath.io/";

/** Null where there is no such annotation; defaults that depend on the engine are the reader's. */
export interface PodAnnotations {
  port: number | null;
  role: Role;
  engine: Engine;
  dpSize: number;
  blockSize: number | null;
  topic: string | null;
  /** Port of rank 0; rank n has the port n above it. */
  eventPort: number | null;
  replayPort: number | null;
  hashSeed: number;
  curveServerKey: string | null;
}

const NAMES = [
  "port",
  "role",
  "engine",
  "dp-size",
  "block-size",
  "topic",
  "event-port",
  "replay-port",
  "hash-seed",
  "curve-server-key",
] as const;

type AnnotationName = (typeof NAMES)[number];

export const PORT_MAX = 65535;

/** Reads all annotations of Warmpath's prefix; every one that is wrong or unknown adds a problem. */
export function readAnnotations(annotations: Readonly<Record<string, string>>, problems: string[]): PodAnnotations {
  const wrong = (name: AnnotationName, needed: string) =>
    problems.push(`annotation ${ANNOTATION_PREFIX}${name} is ${JSON.stringify(textOf(name))}, ${needed} is needed`);

  function textOf(name: AnnotationName): string | null {
    return annotations[ANNOTATION_PREFIX + name] ?? null;
  }

  function integer(name: AnnotationName, min: number, max: number): number | null {
    const text = textOf(name);
    if (text === null) return null;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    wrong(name, `an integer from ${min} to ${max}`);
    return null;
  }

  function choice<T extends string>(name: AnnotationName, choices: readonly T[]): T | null {
    const text = textOf(name);
    if (text === null) return null;
    const found = choices.find((known) => known === text) ?? null;
    if (found === null) wrong(name, `one of ${choices.join(", ")}`);
    return found;
  }

  function curveKey(name: AnnotationName): string | null {
    const text = textOf(name);
    if (text === null || isCurveKey(text)) return text;
    wrong(name, `a public CURVE key of ${CURVE_KEY_CHARACTERS} characters of Z85`);
    return null;
  }

  problems.push(...unknownAnnotations(annotations));
  return {
    port: integer("port", 1, PORT_MAX),
    role: choice("role", ROLES) ?? "DEFAULT",
    engine: choice("engine", ENGINES) ?? "vllm",
    dpSize: integer("dp-size", 1, RANKS_MAX) ?? 1,
    blockSize: integer("block-size", 1, BLOCK_SIZE_MAX),
    topic: textOf("topic"),
    eventPort: integer("event-port", 1, PORT_MAX),
    replayPort: integer("replay-port", 1, PORT_MAX),
    hashSeed: integer("hash-seed", 0, HASH_SEED_MAX) ?? HASH_SEED_DEFAULT,
    curveServerKey: curveKey("curve-server-key"),
  };
}

/** A misspelt annotation would otherwise leave its default in force without a word. */
function unknownAnnotations(annotations: Readonly<Record<string, string>>): string[] {
  const known: readonly string[] = NAMES.map((name) => ANNOTATION_PREFIX + name);
  return Object.keys(annotations)
    .filter((key) => key.startsWith(ANNOTATION_PREFIX) && !known.includes(key))
    .map((key) => `annotation ${key} is not known, one of ${NAMES.join(", ")} is needed`);
}

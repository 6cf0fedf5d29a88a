/**
 * The keys of xLLM's registry: `XLLM:<role>:<name>` describes an instance, `XLLM:LOADMETRICS:<name>` its load, both behind the
 * namespace. Keys are bytes; others may lie in the range, raw bytes included.
 */

import { ROLES, type Role } from "#domain";

/** Every key from `start` on that sorts before `end`. */
export interface KeyRange {
  start: Buffer;
  end: Buffer;
}

export type RegistryKey =
  | { kind: "instance"; role: Role; name: string }
  | { kind: "load"; name: string }
  /** Not one of the registry's, or its name cannot be shown to anyone. */
  | { kind: "unknown" }
  | { kind: "unreadable-name" };

/** A DNS name has 253 characters at most; with a port that is 259, an IPv6 address is shorter. */
const NAME_LENGTH_MAX = 259;

/** No control characters, no spaces, no unassigned code points. */
const PRINTABLE = /^[^\p{C}\p{Z}]+$/u;

const INSTANCE_PREFIXES = ROLES.map((role) => ({ role, prefix: `XLLM:${role}:` }));
const LOAD_PREFIX = "XLLM:LOADMETRICS:";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The etcd key prefix that a namespace means: none for "" and "/", "/a/" for "a", "/a", "a/" and "/a/". */
export function namespacePrefix(namespace: string): string {
  const name = namespace.replace(/^\/+|\/+$/g, "");
  return name === "" ? "" : `/${name}/`;
}

/** The one range with the five kinds of keys; XLLM:CACHE and XLLM:SERVICE, which can be many, lie outside. */
export function registryRange(prefix: string): KeyRange {
  return { start: Buffer.from(`${prefix}XLLM:D`), end: Buffer.from(`${prefix}XLLM:Q`) };
}

/** The key of the instance under that role, as messages show it. */
export function instanceKey(prefix: string, role: Role, name: string): string {
  return `${prefix}XLLM:${role}:${name}`;
}

/** What a key of the registry's range means; its first `prefixBytes` bytes are the namespace. */
export function readKey(key: Uint8Array, prefixBytes: number): RegistryKey {
  const own = key.subarray(prefixBytes);
  // Latin-1 keeps bytes and characters in step, and the prefixes are ASCII.
  const text = Buffer.from(own.buffer, own.byteOffset, own.length).toString("latin1");
  const instance = INSTANCE_PREFIXES.find(({ prefix }) => text.startsWith(prefix));
  if (instance === undefined && !text.startsWith(LOAD_PREFIX)) return { kind: "unknown" };
  const name = readName(own.subarray((instance?.prefix ?? LOAD_PREFIX).length));
  if (name === null) return { kind: "unreadable-name" };
  return instance === undefined ? { kind: "load", name } : { kind: "instance", role: instance.role, name };
}

function readName(bytes: Uint8Array): string | null {
  if (bytes.length > NAME_LENGTH_MAX) return null;
  try {
    const name = decoder.decode(bytes);
    return PRINTABLE.test(name) ? name : null;
  } catch {
    return null;
  }
}

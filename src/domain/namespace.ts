/**
 * What sets two prompts with the same tokens apart: LoRA adapter, cache salt, multimodal items. A namespace changes the chain of
 * content keys where it applies, so that such prompts never match. Events and queries are turned into it by the functions here.
 *
 *   chain starts with   key[-1] = XXH3-128(root bytes ‖ extra-key bytes of block 0), where there are any
 *   at a later block n  key[n-1]′ = XXH3-128(key[n-1] ‖ extra-key bytes of block n), where there are any
 *
 * A block after the first inherits all of that through its parent's key.
 */

export interface Namespace {
  /** Canonical bytes of what holds for the whole chain (the adapter); used at its root only. Null for the base model. */
  root: Uint8Array | null;
  /** Canonical bytes of each block's own extra keys, null for a block without; null when no block has any. */
  extraKeys: readonly (Uint8Array | null)[] | null;
}

/**
 * One extra key of a block: a cache salt or an older multimodal id (text), a multimodal item with its offset, a digest, or what
 * an engine may put there besides, as its MessagePack bytes.
 */
export type ExtraKey = string | { identifier: string; offset: number } | { digest: Uint8Array } | { packed: Uint8Array };

/** Kinds of canonical parts: kind byte, u32 little-endian length, bytes; an item's offset (f64) follows its identifier. */
const KIND = { text: 1, item: 2, digest: 3, packed: 4, loraName: 16, loraId: 17 } as const;

const encoder = new TextEncoder();

/** Root of a chain under a LoRA adapter known by name. */
export function loraNameRoot(name: string): Uint8Array {
  return part(KIND.loraName, encoder.encode(name));
}

/** Root of a chain under an adapter that only its engine knows, by number: no query can name it, and plain ones never match it. */
export function loraIdRoot(id: number): Uint8Array {
  return part(KIND.loraId, encoder.encode(String(id)));
}

/** Canonical bytes of one block's extra keys, in the engine's order; null when there are none. */
export function extraKeyBytes(keys: readonly ExtraKey[]): Uint8Array | null {
  return keys.length === 0 ? null : concatenate(keys.map(extraKeyPart));
}

function extraKeyPart(key: ExtraKey): Uint8Array {
  if (typeof key === "string") return part(KIND.text, encoder.encode(key));
  if ("digest" in key) return part(KIND.digest, key.digest);
  if ("packed" in key) return part(KIND.packed, key.packed);
  const offset = new Uint8Array(8);
  new DataView(offset.buffer).setFloat64(0, key.offset, true);
  return concatenate([part(KIND.item, encoder.encode(key.identifier)), offset]);
}

function part(kind: number, bytes: Uint8Array): Uint8Array {
  const header = new Uint8Array(5);
  header[0] = kind;
  new DataView(header.buffer).setUint32(1, bytes.length, true);
  return concatenate([header, bytes]);
}

/** The parts one behind the other. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, bytes) => length + bytes.length, 0));
  let offset = 0;
  for (const bytes of parts) {
    whole.set(bytes, offset);
    offset += bytes.length;
  }
  return whole;
}

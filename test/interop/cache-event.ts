/** What happens to a peer's cache, and the forms in which a peer can announce it. */

import { BLOCK_SIZE, type Block } from "./blocks.ts";

export type CacheTier = "device" | "host";

export type CacheEvent =
  /** Consecutive blocks of one chain. */
  | { kind: "stored"; blocks: readonly Block[]; tier: CacheTier }
  /** Known blocks are on the host as well; announced without tokens. */
  | { kind: "offloaded"; blocks: readonly Block[] }
  | { kind: "removed"; blocks: readonly Block[]; tier: CacheTier }
  | { kind: "cleared" };

export function stored(blocks: readonly Block[], tier: CacheTier = "device"): CacheEvent {
  return { kind: "stored", blocks, tier };
}

export function offloaded(blocks: readonly Block[]): CacheEvent {
  return { kind: "offloaded", blocks };
}

export function removed(blocks: readonly Block[], tier: CacheTier = "device"): CacheEvent {
  return { kind: "removed", blocks, tier };
}

export const CLEARED: CacheEvent = { kind: "cleared" };

/** Maps have named fields and lower-case media; arrays have positions, no medium for the device, and upper-case media. */
type EventShape = "map" | "array";

/** Integers of either sign, or digests of 32 bytes of which the last eight count. */
type HashForm = "unsigned" | "signed" | "digest";

export interface AnnouncementForm {
  shape: EventShape;
  hashes: HashForm;
}

/** The event as the peer's commands take it. Integers are texts such as "#-12", for `commandText`. */
export function announcement(event: CacheEvent, { shape, hashes }: AnnouncementForm): unknown {
  if (event.kind === "cleared") return shape === "map" ? { type: "AllBlocksCleared" } : ["AllBlocksCleared"];
  const { blocks } = event;
  const blockHashes = blocks.map(({ hash }) => hashForm(hash, hashes));
  const medium = mediumOf(event, shape);
  if (event.kind === "removed") {
    if (shape === "array") return ["BlockRemoved", blockHashes, medium];
    return { type: "BlockRemoved", block_hashes: blockHashes, medium };
  }
  const hasTokens = event.kind === "stored";
  const parent = blocks.at(0)?.parent ?? null;
  const parentHash = !hasTokens || parent === null ? null : hashForm(parent, hashes);
  const tokens = hasTokens ? blocks.flatMap((block) => block.tokens) : [];
  const size = hasTokens ? BLOCK_SIZE : 0;
  if (shape === "array") return ["BlockStored", blockHashes, parentHash, tokens, size, null, medium];
  return {
    type: "BlockStored",
    block_hashes: blockHashes,
    parent_block_hash: parentHash,
    token_ids: tokens,
    block_size: size,
    medium,
  };
}

function mediumOf(event: Exclude<CacheEvent, { kind: "cleared" }>, shape: EventShape): string | null {
  const tier = event.kind === "offloaded" ? "host" : event.tier;
  if (shape === "map") return tier === "device" ? "gpu" : "cpu";
  return tier === "device" ? null : "CPU";
}

function hashForm(hash: bigint, form: HashForm): string | { hex: string } {
  switch (form) {
    case "unsigned":
      return `#${hash}`;
    case "signed":
      return `#${BigInt.asIntN(64, hash)}`;
    case "digest":
      return { hex: "d1".repeat(24) + hash.toString(16).padStart(16, "0") };
  }
}

/** JSON in which texts such as "#-12" are integers, of more digits than a JavaScript number has. */
export function commandText(command: unknown): string {
  return JSON.stringify(command).replaceAll(/"#(-?\d+)"/g, "$1");
}

/** The u64 of a hash as the peer's `state` command spells it: an integer of either sign, or the digest in hexadecimal. */
export function hashOfState(text: string): bigint {
  return text.length === 64 ? BigInt(`0x${text.slice(48)}`) : BigInt.asUintN(64, BigInt(text));
}

/** What happens to a peer's cache, and the forms in which a peer can announce it. */

import type { Engine, Tier } from "#domain";
import { BLOCK_SIZE, type Block, type ExtraKey, ownKeys } from "./blocks.ts";

export type CacheEvent =
  /** Consecutive blocks of one chain. */
  | { kind: "stored"; blocks: readonly Block[]; tier: Tier }
  /** Known blocks are on the host as well; announced without tokens. */
  | { kind: "offloaded"; blocks: readonly Block[] }
  | { kind: "removed"; blocks: readonly Block[]; tier: Tier }
  | { kind: "cleared" };

export function stored(blocks: readonly Block[], tier: Tier = "device"): CacheEvent {
  return { kind: "stored", blocks, tier };
}

export function offloaded(blocks: readonly Block[]): CacheEvent {
  return { kind: "offloaded", blocks };
}

export function removed(blocks: readonly Block[], tier: Tier = "device"): CacheEvent {
  return { kind: "removed", blocks, tier };
}

export const CLEARED: CacheEvent = { kind: "cleared" };

/** Maps have named fields; arrays have positions, and no medium for the device. */
type EventShape = "map" | "array";

/** Integers of either sign, or digests of 32 bytes of which the last eight count. */
type HashForm = "unsigned" | "signed" | "digest";

export interface AnnouncementForm {
  /** Mixed: one event in one shape, the next in the other. */
  shape: EventShape | "mixed";
  hashes: HashForm;
}

type Media = Record<Tier, string | null>;

const MEDIA: Record<Engine, Record<EventShape, Media>> = {
  xllm: { map: { device: "gpu", host: "cpu", disk: "disk" }, array: { device: null, host: "CPU", disk: "DISK" } },
  vllm: { map: { device: "GPU", host: "CPU", disk: "STORAGE" }, array: { device: null, host: "CPU", disk: "STORAGE" } },
  sglang: { map: { device: "GPU", host: "CPU_PINNED", disk: "DISK" }, array: { device: null, host: "CPU_PINNED", disk: "DISK" } },
};

/** What the peer's `state` command calls each tier: every medium in lower case. */
export const STATE_MEDIA: Record<Tier, readonly string[]> = {
  device: ["gpu"],
  host: ["cpu", "cpu_pinned"],
  disk: ["disk", "storage"],
};

/** The events as the peer's commands take them. Integers are texts such as "#-12", for `commandText`. */
export function announcements(events: readonly CacheEvent[], engine: Engine, { shape, hashes }: AnnouncementForm): unknown[] {
  return events.map((event, index) => {
    const eventShape = shape === "mixed" ? (index % 2 === 0 ? "array" : "map") : shape;
    return announcement(event, engine, eventShape, hashes);
  });
}

function announcement(event: CacheEvent, engine: Engine, shape: EventShape, hashes: HashForm): unknown {
  if (event.kind === "cleared") return shape === "map" ? { type: "AllBlocksCleared" } : ["AllBlocksCleared"];
  const fields = eventFields(event, MEDIA[engine][shape], hashes);
  const namespace = event.kind === "stored" ? namespaceFields(event.blocks, engine) : {};
  if (shape === "map") return { ...fields, ...namespace };
  if (event.kind !== "stored") return Object.values(fields);
  const { lora_id = null, lora_name = null, extra_keys = null, cache_salt = null } = namespace;
  const positions = Object.values({ ...fields, lora_id });
  if (cache_salt !== null) return [...positions, { cache_salt }];
  return lora_name === null && extra_keys === null ? positions : [...positions, lora_name, extra_keys];
}

/** In the order of an array's positions. */
function eventFields(event: Exclude<CacheEvent, { kind: "cleared" }>, media: Media, hashes: HashForm): Record<string, unknown> {
  const { blocks } = event;
  const blockHashes = blocks.map(({ hash }) => hashForm(hash, hashes));
  const medium = media[event.kind === "offloaded" ? "host" : event.tier];
  if (event.kind === "removed") return { type: "BlockRemoved", block_hashes: blockHashes, medium };
  const hasTokens = event.kind === "stored";
  const parent = blocks.at(0)?.parent ?? null;
  return {
    type: "BlockStored",
    block_hashes: blockHashes,
    parent_block_hash: !hasTokens || parent === null ? null : hashForm(parent, hashes),
    token_ids: hasTokens ? blocks.flatMap((block) => block.tokens) : [],
    block_size: hasTokens ? BLOCK_SIZE : 0,
    lora_id: null,
    medium,
  };
}

interface NamespaceFields {
  lora_id?: number;
  lora_name?: string;
  extra_keys?: readonly (readonly ExtraKey[] | null)[];
  cache_salt?: string;
}

/** vLLM lists the adapter's name with every block and the salt with the root; SGLang repeats the salt as a field. */
function namespaceFields(blocks: readonly Block[], engine: Engine): NamespaceFields {
  const namespace = blocks.at(0)?.namespace ?? {};
  const { loraName, loraId, cacheSalt } = namespace;
  const adapter: NamespaceFields = {};
  if (loraName !== undefined) adapter.lora_name = loraName;
  if (loraId !== undefined) adapter.lora_id = loraId;
  if (engine === "sglang") return cacheSalt === undefined ? adapter : { ...adapter, cache_salt: cacheSalt };
  const keys = blocks.map(({ depth }) => [...(loraName === undefined ? [] : [loraName]), ...ownKeys(namespace, depth)]);
  if (keys.every((own) => own.length === 0)) return adapter;
  return { ...adapter, extra_keys: keys.map((own) => (own.length === 0 ? null : own)) };
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

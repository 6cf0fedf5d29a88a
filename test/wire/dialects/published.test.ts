import { describe, expect, test } from "bun:test";
import { extraKeyBytes, loraIdRoot, loraNameRoot, type Namespace } from "#domain";
import { type BlockStoredEvent, dialectOf, type KvCacheEvent } from "#wire";
import { PUBLISHED_VECTORS } from "../codec/plain-batch.ts";
import type { CollectedEvent } from "./collecting-sink.ts";
import { decodePayload } from "./decode.ts";

const TIERS = { GPU: "device", CPU: "host", CPU_PINNED: "host", STORAGE: "disk" } as const;
const EMPTY_TUPLE_HASH = 5740354900026072187n;

/** What the index must hear of an event of the fixture. */
function delivered(event: KvCacheEvent): CollectedEvent {
  if (event.type === "AllBlocksCleared") return "cleared";
  if (event.specKind === "sliding_window") return { skipped: "sparse-group" };
  if (event.ownership !== undefined) return { skipped: "not-owned" };
  const tier = TIERS[(event.medium ?? "GPU") as keyof typeof TIERS];
  if (event.type === "BlockRemoved") return { removed: [...event.blockHashes], tier };
  const { blockHashes, parentBlockHash, tokenIds, blockSize } = event;
  const parent = parentBlockHash === EMPTY_TUPLE_HASH ? null : parentBlockHash;
  const namespace = namespaceOf(event);
  const stored = { stored: [...blockHashes], parent, tokens: [...tokenIds], blockSize, tier };
  return namespace === null ? stored : { ...stored, namespace };
}

function namespaceOf({ loraId, loraName, cacheSalt, extraKeys, blockHashes }: BlockStoredEvent): Namespace | null {
  const byNumber = loraId === undefined ? null : loraIdRoot(loraId);
  const root = loraName === undefined ? byNumber : loraNameRoot(loraName);
  const salt = cacheSalt ?? extraKeys?.[0]?.at(1);
  if (root === null && salt === undefined) return null;
  return { root, extraKeys: salt === undefined ? null : blockHashes.map((_, block) => extraKeyBytes(block === 0 ? [salt] : [])) };
}

describe("Dialects on published bytes", () => {
  test.each(PUBLISHED_VECTORS)("Dialect of its engine delivers what it should of $name", ({ name, payload, batch }) => {
    const dialect = dialectOf(name.startsWith("S") ? "sglang" : "vllm");
    expect(decodePayload(dialect, payload)).toEqual({
      problem: null,
      rank: batch.dataParallelRank,
      trailingBytes: 0,
      events: batch.events.map(delivered),
    });
  });
});

/** A sink that keeps events as plain values, hashes as bigint, so that tests can compare them. */

import type { KvEventSink, Namespace, SkipReason, Tier } from "#domain";

export type CollectedEvent =
  | {
      stored: bigint[];
      parent: bigint | null;
      tokens: number[];
      blockSize: number;
      tier: Tier;
      /** Absent for plain text. */
      namespace?: Namespace;
    }
  | { removed: bigint[]; tier: Tier }
  | { skipped: SkipReason }
  | "cleared";

export class CollectingSink implements KvEventSink {
  readonly events: CollectedEvent[] = [];

  blockStored(event: Parameters<KvEventSink["blockStored"]>[0]): void {
    this.events.push({
      stored: toHashes(event.hashLanes, event.hashCount),
      parent: event.hasParent ? toHash(event.parentLow, event.parentHigh) : null,
      tokens: [...event.tokens.subarray(0, event.tokenCount)],
      blockSize: event.blockSize,
      tier: event.tier,
      ...(event.namespace === null ? {} : { namespace: event.namespace }),
    });
  }

  blockRemoved(event: Parameters<KvEventSink["blockRemoved"]>[0]): void {
    this.events.push({ removed: toHashes(event.hashLanes, event.hashCount), tier: event.tier });
  }

  allBlocksCleared(): void {
    this.events.push("cleared");
  }

  eventSkipped(reason: SkipReason): void {
    this.events.push({ skipped: reason });
  }
}

function toHashes(lanes: Uint32Array, count: number): bigint[] {
  return Array.from({ length: count }, (_, index) => toHash(lanes[2 * index], lanes[2 * index + 1]));
}

function toHash(low: number, high: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

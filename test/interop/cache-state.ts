/** A peer's whole cache at one moment, as plain sets of hashes, and what a query must then answer. States never change. */

import type { Block } from "./blocks.ts";
import { BLOCK_SIZE } from "./blocks.ts";
import type { CacheEvent, CacheTier } from "./cache-event.ts";

/** The part of a query's match that depends on the cache alone. */
export interface ExpectedCounts {
  device_hit_tokens: number;
  host_only_hit_tokens: number;
  disk_only_hit_tokens: number;
  reusable_prefix_tokens: number;
  device_blocks: number;
  host_blocks: number;
  disk_blocks: number;
}

export class CacheState {
  static readonly EMPTY = new CacheState(new Set(), new Set());

  private constructor(
    readonly device: ReadonlySet<bigint>,
    readonly host: ReadonlySet<bigint>,
  ) {}

  /** The state after these events, in order. */
  after(events: readonly CacheEvent[]): CacheState {
    const tiers = { device: new Set(this.device), host: new Set(this.host) };
    for (const event of events) apply(event, tiers);
    return new CacheState(tiers.device, tiers.host);
  }

  holds({ hash }: Block): boolean {
    return this.device.has(hash) || this.host.has(hash);
  }

  /** What a query for a prompt of these blocks finds. */
  expected(prompt: readonly Block[]): ExpectedCounts {
    const end = prompt.findIndex((block) => !this.holds(block));
    const prefix = end === -1 ? prompt : prompt.slice(0, end);
    const deviceBlocks = prefix.filter(({ hash }) => this.device.has(hash)).length;
    return {
      device_hit_tokens: deviceBlocks * BLOCK_SIZE,
      host_only_hit_tokens: (prefix.length - deviceBlocks) * BLOCK_SIZE,
      disk_only_hit_tokens: 0,
      reusable_prefix_tokens: prefix.length * BLOCK_SIZE,
      device_blocks: this.device.size,
      host_blocks: this.host.size,
      disk_blocks: 0,
    };
  }
}

function apply(event: CacheEvent, tiers: Record<CacheTier, Set<bigint>>): void {
  switch (event.kind) {
    case "stored":
      for (const { hash } of event.blocks) tiers[event.tier].add(hash);
      return;
    case "offloaded":
      for (const { hash } of event.blocks) if (tiers.device.has(hash)) tiers.host.add(hash);
      return;
    case "removed":
      for (const { hash } of event.blocks) tiers[event.tier].delete(hash);
      return;
    case "cleared":
      tiers.device.clear();
      tiers.host.clear();
      return;
  }
}

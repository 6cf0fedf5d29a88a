/** A peer's whole cache at one moment, as hashes by tier, and what a query must then answer. States never change. */

import { TIERS, type Tier } from "#domain";
import type { Block } from "./blocks.ts";
import { BLOCK_SIZE } from "./blocks.ts";
import type { CacheEvent } from "./cache-event.ts";

/** The part of a query's match that depends on the cache alone. */
export interface Counts {
  device_hit_tokens: number;
  host_only_hit_tokens: number;
  disk_only_hit_tokens: number;
  reusable_prefix_tokens: number;
  device_blocks: number;
  host_blocks: number;
  disk_blocks: number;
}

/** How many copies of each block a tier holds; blocks without any are absent. */
type Copies = ReadonlyMap<bigint, number>;

export class CacheState {
  /** Of an engine whose stores mean presence: one removal removes. */
  static readonly EMPTY = new CacheState({ device: new Map(), host: new Map(), disk: new Map() }, false);
  /** Of an engine that announces every copy: a block is there until as many were removed as were stored. */
  static readonly EMPTY_COUNTED = new CacheState(CacheState.EMPTY.#copies, true);

  readonly #copies: Readonly<Record<Tier, Copies>>;
  readonly #isCounted: boolean;

  private constructor(copies: Readonly<Record<Tier, Copies>>, isCounted: boolean) {
    this.#copies = copies;
    this.#isCounted = isCounted;
  }

  /** The state after these events, in order. */
  after(events: readonly CacheEvent[]): CacheState {
    const { device, host, disk } = this.#copies;
    const copies = { device: new Map(device), host: new Map(host), disk: new Map(disk) };
    for (const event of events) apply(event, copies, this.#isCounted);
    return new CacheState(copies, this.#isCounted);
  }

  isOn(tier: Tier, { hash }: Block): boolean {
    return this.#copies[tier].has(hash);
  }

  holds(block: Block): boolean {
    return TIERS.some((tier) => this.isOn(tier, block));
  }

  hashesOn(tier: Tier): Set<bigint> {
    return new Set(this.#copies[tier].keys());
  }

  /** What a query for a prompt of these blocks finds. */
  expected(prompt: readonly Block[]): Counts {
    const end = prompt.findIndex((block) => !this.holds(block));
    const prefix = end === -1 ? prompt : prompt.slice(0, end);
    const deviceBlocks = prefix.filter((block) => this.isOn("device", block)).length;
    const hostBlocks = prefix.filter((block) => this.isOn("host", block) && !this.isOn("device", block)).length;
    return {
      device_hit_tokens: deviceBlocks * BLOCK_SIZE,
      host_only_hit_tokens: hostBlocks * BLOCK_SIZE,
      disk_only_hit_tokens: (prefix.length - deviceBlocks - hostBlocks) * BLOCK_SIZE,
      reusable_prefix_tokens: prefix.length * BLOCK_SIZE,
      device_blocks: this.#copies.device.size,
      host_blocks: this.#copies.host.size,
      disk_blocks: this.#copies.disk.size,
    };
  }

  /**
   * Whether an answer claims no more than this state has. A block known on the host alone may be on the device as well, so
   * that only the whole prefix and its device part are bounded.
   */
  bounds(counts: Counts, prompt: readonly Block[]): boolean {
    const expected = this.expected(prompt);
    const bounded = ["device_hit_tokens", "reusable_prefix_tokens", "device_blocks", "host_blocks", "disk_blocks"] as const;
    const { device_hit_tokens, host_only_hit_tokens, disk_only_hit_tokens, reusable_prefix_tokens } = counts;
    const isWhole = device_hit_tokens + host_only_hit_tokens + disk_only_hit_tokens === reusable_prefix_tokens;
    return isWhole && bounded.every((field) => counts[field] <= expected[field]);
  }
}

function apply(event: CacheEvent, copies: Record<Tier, Map<bigint, number>>, isCounted: boolean): void {
  const add = (tier: Tier, hash: bigint) => copies[tier].set(hash, isCounted ? (copies[tier].get(hash) ?? 0) + 1 : 1);
  switch (event.kind) {
    case "stored":
      for (const { hash } of event.blocks) add(event.tier, hash);
      return;
    case "offloaded":
      for (const { hash } of event.blocks) if (copies.device.has(hash)) add("host", hash);
      return;
    case "removed":
      for (const { hash } of event.blocks) {
        const left = (copies[event.tier].get(hash) ?? 1) - 1;
        if (left === 0) copies[event.tier].delete(hash);
        else copies[event.tier].set(hash, left);
      }
      return;
    case "cleared":
      for (const tier of Object.values(copies)) tier.clear();
      return;
  }
}

/**
 * Whether the blocks of an event are ones that the directory answers for, and their tier: of a KV cache group with full attention,
 * because other groups hold no whole prefixes, and in the engine's own keeping. What cannot be read counts as outside.
 */

import type { Tier } from "#domain";
import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import type { AttentionGroups } from "./attention-groups.ts";
import { type Medium, readMedium } from "./medium.ts";

const FULL_ATTENTION_TABLE = new NameTable(["full_attention", "mla_attention", "sink_full_attention"]);
/** The other locality is remote: a store that every engine reaches. */
const LOCAL_TABLE = new NameTable(["local", ""], "ignore-case");
/** An owner's name is that of a secondary tier with a life of its own. */
const NOBODY_TABLE = new NameTable([""]);

/** Fields that decide it, by their names in an event map. */
export type ScopeField = "group_idx" | "kv_cache_spec_kind" | "medium" | "locality" | "ownership";

export class EventScope {
  /** Null when the event does not say what its group attends to. */
  #isFullAttention: boolean | null = null;
  /** Null when the event names no group: an engine with one group alone. */
  #group: number | null = null;
  #isShared = false;
  #medium: Medium = "device";

  /** Forgets the last event: one that says nothing is inside, and on the device. */
  clear(): void {
    this.#isFullAttention = null;
    this.#group = null;
    this.#isShared = false;
    this.#medium = "device";
  }

  /** Why the event does not count, whatever else it says; null when it does. `groups` learns what it says of its group. */
  outside(groups: AttentionGroups): "sparse-group" | "not-owned" | null {
    if (this.#isFullAttention !== null && this.#group !== null) groups.learn(this.#group, this.#isFullAttention);
    const isFullAttention = this.#isFullAttention ?? (this.#group === null || groups.isFullAttention(this.#group));
    if (!isFullAttention) return "sparse-group";
    return this.#isShared || this.#medium === "elsewhere" ? "not-owned" : null;
  }

  /** Null for a medium that is not known. */
  get tier(): Tier | null {
    return this.#medium === "unknown" || this.#medium === "elsewhere" ? null : this.#medium;
  }

  /** Passes the value of `field`, which is not nil, whatever else it is; false for a medium that is no text. */
  read(field: ScopeField, reader: MessagePackReader): boolean {
    switch (field) {
      case "kv_cache_spec_kind":
        this.#isFullAttention = FULL_ATTENTION_TABLE.read(reader) >= 0;
        return true;
      case "group_idx":
        this.#group = readGroup(reader);
        return true;
      case "locality":
        this.#isShared = LOCAL_TABLE.read(reader) < 0 || this.#isShared;
        return true;
      case "ownership":
        this.#isShared = NOBODY_TABLE.read(reader) < 0 || this.#isShared;
        return true;
      case "medium": {
        const medium = readMedium(reader);
        this.#medium = medium ?? "unknown";
        return medium !== null;
      }
    }
  }
}

/** The group's number; one that is no number is a group of which nothing will ever be known. */
function readGroup(reader: MessagePackReader): number {
  const group = reader.readUint32();
  if (group >= 0) return group;
  reader.skip();
  return Number.MAX_SAFE_INTEGER;
}

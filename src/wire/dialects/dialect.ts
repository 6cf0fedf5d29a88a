/**
 * What an engine's decoder does, whichever engine and version it is: it goes by the shape of what it finds. All of them hold to this:
 *
 * - An event of a KV cache group without full attention is skipped as "sparse-group", one of blocks in another's keeping as
 *   "not-owned", before anything else of it is judged. One with an unknown tag is skipped as "unknown-event".
 * - A block of another namespace than plain text (LoRA, cache salt, multimodal) never looks like one of plain text: it has its
 *   namespace, or is skipped. A namespace that cannot be read makes its event malformed.
 * - Trailing fields of a batch or of an event's array form, and unknown keys of a map, are ignored: formats grow.
 * - Bytes after the end of the batch are ignored and counted.
 * - An event that is wrong inside, while its MessagePack can be walked, is skipped as "malformed-event", a removal as
 *   "malformed-removal": what it removed is not known. The rest applies.
 * - Broken MessagePack, or no batch at all, makes the batch malformed. Events before the break have been delivered already:
 *   the receiver of a malformed batch cannot trust its state any more.
 */

import type { KvEventSink } from "#domain";
import type { AttentionGroups } from "./attention-groups.ts";

/** How a batch as a whole was found. The decoder reuses the object. */
export interface BatchOutcome {
  problem: null | "malformed";
  /** Data-parallel rank that the batch names; null when it names none. */
  rank: number | null;
  trailingBytes: number;
}

/** What was in a batch, counted. The decoder reuses the object. */
export interface BatchContents {
  /** When the engine says that it made the batch; null when it does not, or not by a number. */
  timestampSeconds: number | null;
  /** Events delivered to the sink, by type. */
  stored: number;
  removed: number;
  cleared: number;
}

/** A decoder is one thread's; it keeps scratch memory as large as the largest event so far. */
export interface Dialect {
  /** Of the batch that was decoded last. */
  readonly contents: Readonly<BatchContents>;
  /**
   * Delivers the events of one batch to `sink` in order. Throws only what `sink` throws. `groups` is what the stream's batches
   * before have taught; without it the batch stands alone.
   */
  decode(payload: Uint8Array, sink: KvEventSink, groups?: AttentionGroups): BatchOutcome;
  /**
   * Whether the batch clears everything and then stores: such a batch is the engine's whole state. Looks at the events' tags
   * only; false for a malformed batch.
   */
  holdsFullState(payload: Uint8Array): boolean;
}

/** In what engines differ beyond the shape of their events. */
export interface DialectRules {
  /** Whether stores of other namespaces than plain text are delivered, or skipped as "unknown-event". */
  namespaces: "delivered" | "skipped";
  /** An engine hash that says, in a parent's place, that there is none, as nil does; null when the engine has no such hash. */
  rootParent: { low: number; high: number } | null;
}

/**
 * What an engine's decoder does, whichever engine it is. All of them hold to this:
 *
 * - An event with an unknown tag is skipped as "unknown-event". So is one outside of what the directory answers for: of
 *   another namespace than plain text (LoRA, cache salt, multimodal), or of a KV cache group without full attention. Such
 *   blocks must never match a plain prompt.
 * - Trailing fields of a batch or of an event's array form, and unknown keys of a map, are ignored: formats grow.
 * - Bytes after the end of the batch are ignored and counted.
 * - An event that is wrong inside, while its MessagePack can be walked, is skipped as "malformed-event"; the rest applies.
 * - Broken MessagePack, or no batch at all, makes the batch malformed. Events before the break have been delivered already:
 *   the receiver of a malformed batch cannot trust its state any more.
 */

import type { KvEventSink } from "#domain";

/** How a batch as a whole was found. The decoder reuses the object. */
export interface BatchOutcome {
  problem: null | "malformed";
  /** Data-parallel rank that the batch names; null when it names none. */
  rank: number | null;
  trailingBytes: number;
}

/** A decoder is one thread's; it keeps scratch memory as large as the largest event so far. */
export interface Dialect {
  /** Delivers the events of one batch to `sink` in order. Throws only what `sink` throws. */
  decode(payload: Uint8Array, sink: KvEventSink): BatchOutcome;
  /**
   * Whether the batch clears everything and then stores: such a batch is the engine's whole state. Looks at the events' tags
   * only; false for a malformed batch.
   */
  holdsFullState(payload: Uint8Array): boolean;
}

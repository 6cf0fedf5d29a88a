/** What a dialect makes of batches, as values. */

import { encode } from "@msgpack/msgpack";
import { type BatchOutcome, type Dialect, dialectOf } from "#wire";
import { type CollectedEvent, CollectingSink } from "./collecting-sink.ts";

export const ALL_DIALECTS = (["xllm", "vllm", "sglang"] as const).map((engine) => ({ engine, dialect: dialectOf(engine) }));

export function decodePayload(dialect: Dialect, payload: Uint8Array): BatchOutcome & { events: CollectedEvent[] } {
  const sink = new CollectingSink();
  return { ...dialect.decode(payload, sink), events: sink.events };
}

/** Events of one batch as they reach the sink; bigint leaves as 64-bit integer, undefined properties not at all. */
export function decodeEvents(dialect: Dialect, ...events: unknown[]): CollectedEvent[] {
  const payload = encode([1.5, events, 0], { useBigInt64: true, ignoreUndefined: true });
  return decodePayload(dialect, payload).events;
}

/**
 * Warmpath as a library, the package's public surface: AIBrix's kvcache package as TypeScript. KvEventClient listens to an
 * engine's KV events in a thread of its own; the codec and the prefix hashes are there without it. Imports wire, domain and base.
 */

export {
  type AllBlocksClearedEvent,
  type BlockRemovedEvent,
  type BlockStoredEvent,
  type DecodedBatch,
  type DecodeOptions,
  decodeEventBatch,
  EVENT_SHAPES,
  type EventBatch,
  type EventDetails,
  type EventShape,
  encodeEventBatch,
  type KvCacheEvent,
  MalformedBatchError,
} from "#wire";
export type { ErrorType, EventType, KvEventClientStats } from "./lib/client-counters.ts";
export type { ClientAddress, ClientConnection } from "./lib/client-options.ts";
export type { BatchSource, DropReason } from "./lib/client-protocol.ts";
export { type DeliveredBatch, KvEventClientError, type KvEventHandlers } from "./lib/handlers.ts";
export { KvEventClient, type KvEventClientOptions } from "./lib/kv-event-client.ts";
export { type PrefixHashOptions, prefixHashes } from "./lib/prefix-hashes.ts";

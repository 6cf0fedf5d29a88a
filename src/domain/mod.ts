/**
 * The field's words as types and tiny pure functions: tiers, streams, KV events, matches, reasons. Knows no other room but base.
 */

export {
  type BlockRemoved,
  type BlockStored,
  type KvEventSink,
  SKIP_REASONS,
  type SkipReason,
} from "./kv-event.ts";
export { concatenate, type ExtraKey, extraKeyBytes, loraIdRoot, loraNameRoot, type Namespace } from "./namespace.ts";
export { TOKENS_MAX } from "./prompt.ts";
export type { StreamReport } from "./report.ts";
export type { Coverage, StreamMatch } from "./residency.ts";
export { ENGINES, type Engine, type StreamDescription, streamName } from "./stream.ts";
export { TIER_CODE, TIERS, type Tier } from "./tier.ts";
export {
  describeUnsynchronized,
  UNSYNCHRONIZED_REASONS,
  type Unsynchronized,
  type UnsynchronizedReason,
  unsynchronized,
} from "./unsynchronized.ts";

/**
 * The field's words as types and tiny pure functions: tiers, streams, KV events, matches, reasons. Knows no other room but base.
 */

export { canonicalEndpoint } from "./endpoint.ts";
export {
  type CurrentRole,
  type InstanceRegistration,
  incarnationIdOf,
  incarnationOf,
  knownEngine,
  REGISTRIES,
  type Registry,
  ROLES,
  type Role,
  type TpotSample,
  type TtftSample,
} from "./instance.ts";
export {
  type BlockRemoved,
  type BlockStored,
  type KvEventSink,
  SKIP_REASONS,
  type SkipReason,
} from "./kv-event.ts";
export { type LatencyReport, LOAD_ORIGINS, type LoadOrigin, type LoadReport, loadProblem } from "./load.ts";
export { concatenate, type ExtraKey, extraKeyBytes, loraIdRoot, loraNameRoot, type Namespace } from "./namespace.ts";
export { TOKENS_MAX } from "./prompt.ts";
export type { StreamReport } from "./report.ts";
export type { Coverage, StreamMatch } from "./residency.ts";
export {
  BLOCK_SIZE_MAX,
  ENGINES,
  type Engine,
  HASH_SEED_DEFAULT,
  HASH_SEED_MAX,
  RANKS_MAX,
  type StreamDescription,
  streamName,
} from "./stream.ts";
export { TIER_CODE, TIERS, type Tier } from "./tier.ts";
export {
  describeUnsynchronized,
  UNSYNCHRONIZED_REASONS,
  type Unsynchronized,
  type UnsynchronizedReason,
  unsynchronized,
} from "./unsynchronized.ts";

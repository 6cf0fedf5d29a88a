/**
 * The field's words as types and tiny pure functions: tiers, streams, KV events, matches, reasons. Knows no other room but base.
 */

export { CURVE_KEY_CHARACTERS, isCurveKey } from "./curve-key.ts";
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
export { LOAD_BALANCE_POLICIES, type LoadBalancePolicy } from "./load-balance-policy.ts";
export { concatenate, type ExtraKey, extraKeyBytes, loraIdRoot, loraNameRoot, type Namespace } from "./namespace.ts";
export { TOKENS_MAX } from "./prompt.ts";
export {
  RECOVERY_KINDS,
  RECOVERY_OUTCOMES,
  type RecoveryEnd,
  type RecoveryKind,
  type RecoveryOutcome,
  type StreamReport,
} from "./report.ts";
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
  STREAM_SOCKET,
  type StreamSocket,
  UNSYNCHRONIZED_REASONS,
  type Unsynchronized,
  type UnsynchronizedReason,
  unsynchronized,
} from "./unsynchronized.ts";

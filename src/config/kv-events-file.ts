/**
 * The JSON file that `kv_events_config_file` names, in the format of xLLM service. Like the settings' schema this one is the
 * only source of the file's fields; what holds between fields is in `kv-events-rules.ts`.
 */

import { FormatRegistry, type Static, Type } from "@sinclair/typebox";
import {
  BLOCK_SIZE_MAX,
  CURVE_KEY_CHARACTERS,
  canonicalEndpoint,
  ENGINES,
  HASH_SEED_DEFAULT,
  HASH_SEED_MAX,
  isCurveKey,
  RANKS_MAX,
} from "#domain";

const ENDPOINT_FORMAT = "warmpath-endpoint";

FormatRegistry.Set(ENDPOINT_FORMAT, (text) => canonicalEndpoint(text) !== null);

const endpoint = {
  format: ENDPOINT_FORMAT,
  allowed: "tcp://host:port with a port from 1 to 65535 and no wildcard host (*, 0.0.0.0, [::])",
};

const CURVE_KEY_FORMAT = "warmpath-curve-key";

FormatRegistry.Set(CURVE_KEY_FORMAT, isCurveKey);

const curveServerKey = (description: string) =>
  Type.Union([Type.String({ format: CURVE_KEY_FORMAT }), Type.Null()], {
    default: null,
    allowed: `a public CURVE key, ${CURVE_KEY_CHARACTERS} characters of Z85, or null`,
    description,
  });

const blockSize = () =>
  Type.Integer({
    default: 128,
    minimum: 1,
    maximum: BLOCK_SIZE_MAX,
    description: "Tokens per block; must match published events",
  });

/** TCP ports end at 65535, so a larger offset leaves no port for any instance; 0 is the instance's own HTTP port. */
const portOffset = (offset: number, description: string) =>
  Type.Integer({ default: offset, minimum: 1, maximum: 65534, description });

export const Discovery = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: "Subscribe to the instances that the fleet's registry lists" }),
    block_size: blockSize(),
    topic: Type.String({ default: "", description: "Exact topic of every publisher" }),
    event_port_offset: portOffset(10000, "Event endpoint = tcp://host:(HTTP port + offset + rank)"),
    replay_port_offset: portOffset(30000, "Replay endpoint = tcp://host:(HTTP port + offset + rank)"),
    refresh_interval_ms: Type.Integer({
      default: 1000,
      minimum: 50,
      maximum: 60000,
      description: "Time between two looks at the registry",
    }),
    curve_server_key: curveServerKey("Public key of every publisher that is encrypted with CURVE; null: in the clear"),
  },
  { additionalProperties: false },
);

export type Discovery = Static<typeof Discovery>;

export const StreamFields = Type.Object(
  {
    instance_name: Type.String({ minLength: 1, description: "Name of the instance, preferably host:port of its HTTP address" }),
    dp_rank: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: RANKS_MAX - 1,
      description: "Data-parallel rank; batches of an xllm stream must carry it",
    }),
    engine: Type.Union(
      ENGINES.map((engine) => Type.Literal(engine)),
      { default: "xllm", description: "Engine that publishes the stream" },
    ),
    block_size: blockSize(),
    endpoint: Type.String({ ...endpoint, description: "Where the rank publishes its events" }),
    replay_endpoint: Type.Union([Type.String(endpoint), Type.Null()], {
      default: null,
      allowed: `${endpoint.allowed}, or null`,
      description:
        "Where the rank answers with its snapshot (xllm: required) or its last batches (others: null when it does not)",
    }),
    topic: Type.String({ default: "", description: "Exact topic of the publisher" }),
    hash_seed: Type.Integer({
      default: HASH_SEED_DEFAULT,
      minimum: 0,
      maximum: HASH_SEED_MAX,
      description: "Seed of Warmpath's content keys",
    }),
    curve_server_key: curveServerKey("Public key of the publisher, where it is encrypted with CURVE; null: in the clear"),
  },
  { additionalProperties: false },
);

export type StreamFields = Static<typeof StreamFields>;

export const KvEventsFile = Type.Object(
  {
    discovery: Type.Optional(Discovery),
    // A stream is one bit in each entry of the index, and an entry has 128 bits for each tier.
    max_streams: Type.Integer({
      default: 128,
      minimum: 1,
      maximum: 128,
      description: "Streams in all, one per instance and rank",
    }),
    // One stream at the maximum fills the 4 GiB where WebAssembly memory ends, at 256 bytes a block.
    max_blocks_per_stream: Type.Integer({
      default: 262144,
      minimum: 1,
      maximum: 16777216,
      description: "Blocks in the index, parent-chain and tokenless mappings included; beyond, the stream is unsynchronized",
    }),
    // In 1 KiB fit the events of one small step. A message is in memory whole, at worst one for every stream at once.
    max_message_bytes: Type.Integer({
      default: 8388608,
      minimum: 1024,
      maximum: 268435456,
      description: "Largest live message, snapshot or replayed batch",
    }),
    // Limits cross threads as one u32 word.
    max_buffered_bytes: Type.Integer({
      default: 16777216,
      minimum: 1024,
      maximum: 4294967295,
      description: "Live batches held during recovery, wire bytes and decoded records",
    }),
    // A publisher that needs more than ten minutes for its state is as good as gone.
    replay_timeout_ms: Type.Integer({
      default: 2000,
      minimum: 1,
      maximum: 600000,
      description: "Time for a whole snapshot or replay; later it is abandoned and asked for again",
    }),
    resync_interval_ms: Type.Integer({
      default: 30000,
      minimum: 1000,
      maximum: 3600000,
      description:
        "Time between two comparisons of a synchronized stream with a fresh snapshot; no effect on engines without snapshots",
    }),
    streams: Type.Optional(Type.Array(StreamFields)),
  },
  { additionalProperties: false },
);

export type KvEventsFile = Static<typeof KvEventsFile>;

/** A stream: Warmpath's subscription to one data-parallel rank of one instance. */

export const ENGINES = ["xllm", "vllm", "sglang"] as const;

export type Engine = (typeof ENGINES)[number];

/** No engine comes near this many data-parallel ranks: a larger number is a slip. */
export const RANKS_MAX = 4096;

/** Tokens per block; the largest pages in use are far below. */
export const BLOCK_SIZE_MAX = 4096;

/** The seed of xLLM's own content keys. */
export const HASH_SEED_DEFAULT = 1024;

/** Seeds cross threads as one u32 word. */
export const HASH_SEED_MAX = 2 ** 32 - 1;

export interface StreamDescription {
  instanceName: string;
  dpRank: number;
  engine: Engine;
  /** Tokens per block. */
  blockSize: number;
  /** Seed of the content keys, u32. */
  hashSeed: number;
  /** `tcp://host:port` of the publisher. */
  endpoint: string;
  /** `tcp://host:port` of the recovery endpoint; null when the engine has none, which an xLLM engine always has. */
  replayEndpoint: string | null;
  /** Exact topic of the publisher's messages. */
  topic: string;
  /** Public CURVE key of both sockets, Z85; null: they speak in the clear. */
  curveServerKey: string | null;
  /** The engine process that the stream was opened for, as its instance is registered; "" when that is not known. */
  incarnation: string;
}

/** `instance "10.0.0.5:8000" rank 0`, as messages name a stream. */
export function streamName(stream: { instanceName: string; dpRank: number }): string {
  return `instance ${JSON.stringify(stream.instanceName)} rank ${stream.dpRank}`;
}

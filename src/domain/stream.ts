/** A stream: Warmpath's subscription to one data-parallel rank of one instance. */

export const ENGINES = ["xllm", "vllm", "sglang"] as const;

export type Engine = (typeof ENGINES)[number];

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
}

/** `instance "10.0.0.5:8000" rank 0`, as messages name a stream. */
export function streamName(stream: { instanceName: string; dpRank: number }): string {
  return `instance ${JSON.stringify(stream.instanceName)} rank ${stream.dpRank}`;
}

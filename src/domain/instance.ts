/** An instance: one engine deployment known by the `host:port` of its HTTP address, as whoever registers it describes it. */

import type { Engine } from "./stream.ts";

/** The position of a role is its number in an xLLM registration. */
export const ROLES = ["DEFAULT", "PREFILL", "DECODE", "MIX"] as const;

export type Role = (typeof ROLES)[number];

/** What an instance works as at the moment: a MIX instance as PREFILL or DECODE, any other as its role. */
export type CurrentRole = Exclude<Role, "MIX">;

/** Who says that an instance is there. */
export const REGISTRIES = ["etcd", "http", "kubernetes"] as const;

export type Registry = (typeof REGISTRIES)[number];

/** Time to the first token, measured by the engine: prompt tokens, milliseconds. */
export type TtftSample = readonly [promptTokens: number, ms: number];

/** Time per output token, measured by the engine: average tokens of a request, requests in the batch, milliseconds. */
export type TpotSample = readonly [averageTokens: number, batchRequests: number, ms: number];

export interface InstanceRegistration {
  name: string;
  /** `host:port` of the instance's HTTP door; requests, probes and scrapes go there. */
  address: string;
  role: Role;
  /** As registered: "xllm", "vllm", "sglang", or an engine whose events Warmpath does not know. */
  backend: string;
  /**
   * Identity of the engine's process: its incarnation id, or for older engines `register_ts_ms:<number>`; "" when it tells
   * neither. Two processes never share one, but "".
   */
  incarnation: string;
  /** Data-parallel ranks, at least 1. */
  dpSize: number;
  /** Tokens per block; null: as discovery is configured. */
  blockSize: number | null;
  /** Seed of Warmpath's content keys, u32. */
  hashSeed: number;
  /** Exact topic of the publishers; null: as discovery is configured. */
  topic: string | null;
  /** Public CURVE key of the publishers, Z85; null: as discovery is configured. */
  curveServerKey: string | null;
  /** `tcp://host:port` of each rank's publisher; null: by the rule of offsets. */
  eventEndpoints: readonly string[] | null;
  /** Of each rank's recovery endpoint, null for a rank without; null as a whole: by the rule of offsets. */
  replayEndpoints: readonly (string | null)[] | null;
  ttftSamples: readonly TtftSample[];
  tpotSamples: readonly TpotSample[];
}

/** The engine whose events the backend publishes; null when Warmpath does not know them. */
export function knownEngine(backend: string, engines: readonly Engine[]): Engine | null {
  return engines.find((engine) => engine === backend) ?? null;
}

const REGISTER_TIME_PREFIX = "register_ts_ms:";

/** The identity that a registration's two fields make; `registerTsMs` 0 means that it has none. */
export function incarnationOf(incarnationId: string, registerTsMs: number): string {
  if (incarnationId !== "") return incarnationId;
  return registerTsMs === 0 ? "" : `${REGISTER_TIME_PREFIX}${registerTsMs}`;
}

/** The incarnation id that such an identity holds, as heartbeats carry it; "" when it holds none. */
export function incarnationIdOf(incarnation: string): string {
  return incarnation.startsWith(REGISTER_TIME_PREFIX) ? "" : incarnation;
}

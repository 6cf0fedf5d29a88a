/** What decides which streams are wanted, as configured; it does not change while Warmpath runs. */

import type { StreamDescription } from "#domain";

export interface SubscriptionRules {
  /** False: only instances that register their own event endpoints are subscribed to. */
  isDiscoveryEnabled: boolean;
  /** Tokens per block, and the publishers' exact topic, of instances that register none. */
  blockSize: number;
  topic: string;
  /** Public CURVE key of their publishers, Z85; null: they speak in the clear. */
  curveServerKey: string | null;
  /** Endpoint of a rank = `tcp://host:(HTTP port + offset + rank)`, where the instance registers none. */
  eventPortOffset: number;
  replayPortOffset: number;
  /** Streams in all, the listed ones included. */
  maxStreams: number;
  /** Streams that the KV events file lists. They come first and never go. */
  staticStreams: readonly StreamDescription[];
}

/**
 * Why an instance has no subscription. `settled`: it is not meant to have one. `limit`: there is no room. `fault`: its registration
 * cannot be followed. `overlap`: another one names the same endpoint.
 */
export interface Exclusion {
  kind: "settled" | "limit" | "fault" | "overlap";
  /** A sentence for the person on call. */
  reason: string;
}

import type { SubscriptionRules } from "../../src/fleet/subscriptions/mod.ts";

/** The defaults of the settings, with discovery. */
export const RULES: SubscriptionRules = {
  isDiscoveryEnabled: true,
  blockSize: 128,
  topic: "xllm-kv",
  curveServerKey: null,
  eventPortOffset: 10_000,
  replayPortOffset: 30_000,
  maxStreams: 128,
  staticStreams: [],
};

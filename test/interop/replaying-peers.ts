/** The peers that answer with their last batches, in the shapes that their engines have had. */

import type { PeerOptions } from "./peer-engine.ts";

/** By name; each scenario about replays holds for all of them. */
export const REPLAYING_PEERS: readonly (readonly [name: string, peer: PeerOptions])[] = [
  ["vLLM", { engine: "vllm" }],
  ["vLLM with topics in its replies", { engine: "vllm", replayShape: "topic" }],
  ["SGLang", { engine: "sglang" }],
];

/** Long for a peer that answers, and short for tests of peers that do not. */
export const REPLAY_TIMEOUT_MS = 400;

/** The reason while a peer does not. */
export const NO_ANSWER = `no answer to a replay request within replay_timeout_ms ${REPLAY_TIMEOUT_MS}`;

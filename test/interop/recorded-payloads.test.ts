import { expect } from "bun:test";
import fixture from "../fixtures/wire/vectors.json";
import { chain, LEFT, RIGHT } from "./blocks.ts";
import { CLEARED, removed, stored } from "./cache-event.ts";
import type { CacheState } from "./cache-state.ts";
import { REPLAY_TIMEOUT_MS } from "./replaying-peers.ts";
import { describeInterop } from "./suite.ts";

/** What a payload's blocks count as; no prompt asks for them. */
const OTHERS = chain("of a recorded payload", 2);

/** Blocks that each payload, by the beginning of its name, leaves on the device besides those there; or no block at all. */
const OUTCOMES: Record<string, number | "cleared"> = {
  "V1 vllm 0.9.0 stored": 1,
  "V1 vllm 0.9.0 removed": 0,
  "V1 vllm 0.9.0 cleared": "cleared",
  // Its parent is unknown.
  "V2 ": 0,
  "V3 ": 1,
  "V3b ": 1,
  "V4 ": 1,
  "V5 ": 2,
  "V6 ": 0,
  "V7 ": 1,
  "V8 vllm": "cleared",
  "V8 placeholder": 0,
  // Its owner is another.
  "V9 ": 0,
  "Vx ": "cleared",
  // Its parent is the empty one of old SGLang, which vLLM does not know.
  "S1 ": 1,
  "S2 ": 1,
  "S3 ": 1,
  "S3b ": 1,
  "S3c ": 1,
  "S4 ": "cleared",
};

function outcomeOf(name: string, before: CacheState): CacheState {
  const found = Object.entries(OUTCOMES).find(([beginning]) => name.startsWith(beginning));
  expect(found).toBeDefined();
  const outcome = found?.[1] ?? 0;
  return outcome === "cleared" ? before.after([CLEARED]) : before.after([stored(OTHERS.slice(0, outcome))]);
}

describeInterop(
  "Payloads in the shape of every vLLM and SGLang version",
  (scenario) => {
    for (const engine of ["vllm", "sglang"] as const) {
      scenario(
        `Warmpath goes on after each of them, sent by an engine "${engine}"`,
        async (stream) => {
          const { peer } = stream;
          for (const { name, payload } of fixture.vectors) {
            const isUnderstood = !name.startsWith("V2 ") && !(name.startsWith("S1 ") && engine === "vllm");
            await peer.publish([CLEARED, stored(LEFT)]);
            await stream.catchesUp();
            const outcome = outcomeOf(name, peer.cache);
            await peer.raw(Uint8Array.fromHex(payload), outcome);
            if (isUnderstood) await stream.catchesUp();
            await peer.publish([CLEARED, stored(LEFT.slice(0, 5)), removed(LEFT.slice(3, 4))]);
            await stream.staysSynchronized(() => peer.publish([stored(RIGHT)]));
          }
        },
        { peers: [{ engine }] },
      );
    }
  },
  { fields: { replay_timeout_ms: REPLAY_TIMEOUT_MS } },
);

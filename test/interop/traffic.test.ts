import { expect } from "bun:test";
import { CLEARED, stored } from "./cache-event.ts";
import type { ObservedStream } from "./observed-stream.ts";
import type { PeerOptions } from "./peer-engine.ts";
import { TRAFFIC_PROMPTS } from "./random-changes.ts";
import { RandomTraffic } from "./random-traffic.ts";
import { REPLAY_TIMEOUT_MS } from "./replaying-peers.ts";
import { describeInterop } from "./suite.ts";

const STREAMS = 8;
const DURATION_MS = 10_000;

/** The longest backoff between two recoveries and the recovery itself. */
const CATCH_UP_TIMEOUT_MS = 35_000;

/** Far fewer than there are; with none the observer would have judged nothing. */
const STATES_SEEN_MIN = 10;

const seed = Number(Bun.env.WARMPATH_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Both reply shapes; buffers that reach back to the beginning and some that do not; and no replay at all. */
const WITHOUT_SNAPSHOTS: readonly PeerOptions[] = [
  { engine: "vllm" },
  { engine: "vllm", replayShape: "topic", bufferSteps: 40 },
  { engine: "sglang" },
  { engine: "sglang", bufferSteps: 40 },
  { engine: "vllm", hasReplay: false },
  { engine: "sglang", hasReplay: false },
];

/** Runs traffic on all streams at once, then judges each stream's end. */
async function runTraffic(
  streams: readonly ObservedStream[],
  expectEnd: (stream: ObservedStream) => Promise<void>,
): Promise<void> {
  try {
    await Promise.all(streams.map(({ peer }, number) => new RandomTraffic(peer, seed + number).run(DURATION_MS)));
    for (const stream of streams) {
      const { peer } = stream;
      await expectEnd(stream);
      const { cache } = peer;
      const modelled = { device: cache.hashesOn("device"), host: cache.hashesOn("host"), disk: cache.hashesOn("disk") };
      expect(await peer.heldHashes()).toEqual(modelled);
      expect(stream.statesSeen).toBeGreaterThan(STATES_SEEN_MIN);
    }
  } catch (error) {
    console.error(`Run again with WARMPATH_SEED=${seed} bun test test/interop/traffic.test.ts`);
    throw error;
  }
}

describeInterop(
  "Peers under random traffic",
  (scenario) => {
    scenario(
      "Warmpath is right about eight streams all through random traffic and faults, and equal to each peer at the end",
      (...streams) => runTraffic(streams, (stream) => stream.catchesUp({ timeoutMs: CATCH_UP_TIMEOUT_MS })),
      { peers: Array.from({ length: STREAMS }, (_, rank) => ({ rank })) },
    );
  },
  { fields: { resync_interval_ms: 1500 }, prompts: TRAFFIC_PROMPTS },
);

describeInterop(
  "Peers without snapshots under random traffic",
  (scenario) => {
    scenario(
      "Warmpath claims nothing that a peer does not hold, follows each to the end, and knows everything from a clear on",
      (...streams) =>
        runTraffic(streams, async (stream) => {
          await stream.hearsLast(CATCH_UP_TIMEOUT_MS);
          await stream.peer.publish([CLEARED, stored(TRAFFIC_PROMPTS[0]), stored(TRAFFIC_PROMPTS[8], "host")]);
          await stream.catchesUp();
        }),
      { peers: WITHOUT_SNAPSHOTS.map((peer, rank) => ({ ...peer, rank })) },
    );
  },
  { fields: { replay_timeout_ms: REPLAY_TIMEOUT_MS }, prompts: TRAFFIC_PROMPTS },
);

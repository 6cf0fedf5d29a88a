import { expect } from "bun:test";
import { RandomTraffic, TRAFFIC_PROMPTS } from "./random-traffic.ts";
import { describeInterop } from "./suite.ts";

const STREAMS = 8;
const DURATION_MS = 10_000;

/** The longest backoff between two recoveries and the recovery itself. */
const CATCH_UP_TIMEOUT_MS = 35_000;

/** Far fewer than there are; with none the observer would have judged nothing. */
const STATES_SEEN_MIN = 10;

const seed = Number(Bun.env.WARMPATH_SEED ?? Math.floor(Math.random() * 2 ** 31));

describeInterop(
  "Peers under random traffic",
  (scenario) => {
    scenario(
      "Warmpath is right about eight streams all through random traffic and faults, and equal to each peer at the end",
      async (...streams) => {
        try {
          await Promise.all(streams.map(({ peer }, rank) => new RandomTraffic(peer, seed + rank).run(DURATION_MS)));
          for (const stream of streams) {
            const { peer } = stream;
            await stream.catchesUp(CATCH_UP_TIMEOUT_MS);
            expect(await peer.heldHashes()).toEqual({ device: new Set(peer.cache.device), host: new Set(peer.cache.host) });
            expect(stream.statesSeen).toBeGreaterThan(STATES_SEEN_MIN);
          }
        } catch (error) {
          console.error(`Run again with WARMPATH_SEED=${seed} bun test test/interop/traffic.test.ts`);
          throw error;
        }
      },
      { peers: Array.from({ length: STREAMS }, (_, rank) => ({ rank })) },
    );
  },
  { fields: { resync_interval_ms: 1500 }, prompts: TRAFFIC_PROMPTS },
);

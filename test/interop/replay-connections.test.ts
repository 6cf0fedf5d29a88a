import { LEFT, RIGHT } from "./blocks.ts";
import { removed, stored } from "./cache-event.ts";
import type { PeerEngine } from "./peer-engine.ts";
import { REPLAY_TIMEOUT_MS, REPLAYING_PEERS } from "./replaying-peers.ts";
import { describeInterop } from "./suite.ts";

/** Longer than a client takes to notice. */
const DISCONNECT_MS = 300;

/** Batch 0, before Warmpath comes. */
function prepare(peer: PeerEngine): Promise<void> {
  return peer.publish([stored(LEFT)]);
}

describeInterop(
  "The connections of a peer that replays",
  (scenario) => {
    for (const [name, peer] of REPLAYING_PEERS) {
      const options = { peers: [peer], prepare };

      scenario(
        `Warmpath takes over the cache of ${name} through restarts, empty and with another one`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.restart([]);
          await stream.sees("the publisher disconnected");
          await stream.knowsNothing();
          await stream.peer.publish([stored(RIGHT.slice(0, 5))]);
          await stream.catchesUp();
          await peer.restart([stored(RIGHT, "host"), stored(LEFT.slice(0, 3))]);
          await stream.catchesUp();
          for (const length of [2, 5, 3]) await peer.restart([stored(LEFT.slice(0, length))]);
          await peer.publish([stored(RIGHT)]);
          await stream.catchesUp();
          await stream.staysSynchronized(() => peer.publish([removed(LEFT)]));
        },
        options,
      );

      scenario(
        `Warmpath takes no buffer of ${name} that was started again for the next batches of the process before`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.replay("silent");
          await peer.restart([]);
          await stream.sees("the publisher disconnected");
          for (const events of [stored(RIGHT.slice(0, 4)), stored(RIGHT.slice(4)), stored(RIGHT.slice(0, 2), "host")]) {
            await peer.lose([events]);
          }
          await peer.replay("whole");
          await stream.catchesUp({ known: peer.emptyCache.after([stored(RIGHT.slice(0, 2), "host")]) });
        },
        { ...options, peers: [{ ...peer, bufferSteps: 2 }] },
      );

      scenario(
        `Warmpath scores nothing while ${name} is away, and misses nothing afterwards`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.disconnect(DISCONNECT_MS);
          for (const [index] of RIGHT.entries()) await peer.publish([stored(RIGHT.slice(index, index + 1), "host")]);
          await stream.sees("the publisher disconnected");
          await stream.catchesUp();
        },
        options,
      );

      scenario(
        `Warmpath drops batches that ${name} sends twice`,
        async (stream) => {
          const { peer } = stream;
          await stream.staysSynchronized(async () => {
            await peer.publish([stored(LEFT)]);
            await peer.publish([removed(LEFT.slice(4))]);
            await peer.repeat(3);
            await peer.publish([stored(RIGHT)]);
            await peer.repeat(1);
          });
        },
        options,
      );
    }
  },
  { fields: { replay_timeout_ms: REPLAY_TIMEOUT_MS } },
);

import { LEFT, RIGHT } from "./blocks.ts";
import { CLEARED, removed, stored } from "./cache-event.ts";
import { type PeerEngine, TOPICS } from "./peer-engine.ts";
import { REPLAY_TIMEOUT_MS, REPLAYING_PEERS } from "./replaying-peers.ts";
import { describeInterop } from "./suite.ts";
import { liveFrames, payloadOf, storeOf } from "./wire-batch.ts";

const MAX_MESSAGE_BYTES = 65_536;

/** Longer than it takes to tell a connection that ends over a large message from one that just ends. */
const OVERSIZED_TIMEOUT_MS = 1500;

/** Batch 0, before Warmpath comes. */
function prepare(peer: PeerEngine): Promise<void> {
  return peer.publish([stored(LEFT)]);
}

describeInterop(
  "The broken batches of a peer that replays",
  (scenario) => {
    for (const [name, peer] of REPLAYING_PEERS) {
      const options = { peers: [peer], prepare };

      scenario(
        `Warmpath recovers from a message of ${name} that has two frames`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          const reason = "a message of 2 frames is not topic, batch sequence, payload";
          const [topic, , payload] = liveFrames(TOPICS[peer.engine], 1, payloadOf([storeOf(RIGHT)]));
          await stream.failsWith(reason, () => peer.frames([topic, payload]));
        },
        options,
      );

      scenario(
        `Warmpath goes on after a batch of ${name} that is not MessagePack`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.raw(Uint8Array.of(0x93, 0xc1, 0xc1));
          await peer.publish([stored(RIGHT.slice(0, 4)), stored(LEFT.slice(0, 2), "host"), removed(LEFT.slice(4))]);
          const known = peer.emptyCache.after([stored(RIGHT.slice(0, 4)), stored(LEFT.slice(0, 2), "host")]);
          await stream.catchesUp({ known });
          await peer.publish([CLEARED]);
          await stream.staysSynchronized(() => peer.publish([stored(LEFT)]));
        },
        options,
      );
    }
  },
  { fields: { replay_timeout_ms: REPLAY_TIMEOUT_MS } },
);

describeInterop(
  "The oversized batches of a peer that replays",
  (scenario) => {
    for (const [name, peer] of REPLAYING_PEERS) {
      scenario(
        `Warmpath goes on after a batch of ${name} that is above the limit`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.raw(new Uint8Array(MAX_MESSAGE_BYTES + 1));
          await stream.sees(`message larger than max_message_bytes ${MAX_MESSAGE_BYTES}`);
          await stream.knowsNothing();
          await peer.publish([stored(RIGHT.slice(0, 4)), stored(LEFT.slice(0, 2), "host"), removed(LEFT.slice(4))]);
          const known = peer.emptyCache.after([stored(RIGHT.slice(0, 4)), stored(LEFT.slice(0, 2), "host")]);
          await stream.catchesUp({ known });
        },
        { peers: [peer], prepare },
      );
    }
  },
  { fields: { max_message_bytes: MAX_MESSAGE_BYTES, replay_timeout_ms: OVERSIZED_TIMEOUT_MS } },
);

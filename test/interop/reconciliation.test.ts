import { LEFT, RIGHT } from "./blocks.ts";
import { CLEARED, offloaded, removed, stored } from "./cache-event.ts";
import type { PeerEngine } from "./peer-engine.ts";
import { describeInterop } from "./suite.ts";

const RESYNC_INTERVAL_MS = 1000;

async function prepare(peer: PeerEngine): Promise<void> {
  await peer.publish([stored(LEFT), stored(RIGHT.slice(0, 4))]);
}

describeInterop(
  "A peer's lost tail",
  (scenario) => {
    const tails: [string, (peer: PeerEngine) => Promise<void>][] = [
      ["one batch", (peer) => peer.lose([removed(LEFT.slice(2)), offloaded(RIGHT.slice(0, 4)), stored(RIGHT.slice(4), "host")])],
      ["a clear", (peer) => peer.lose([CLEARED])],
      ["batch sequences without a batch", (peer) => peer.vanish(5)],
    ];
    for (const [name, lose] of tails) {
      scenario(
        `Warmpath repairs a lost tail of ${name} and stays synchronized`,
        async (stream) => {
          await stream.staysSynchronized(() => lose(stream.peer));
          await stream.staysSynchronized(() => stream.peer.publish([stored(LEFT)]));
        },
        { prepare },
      );
    }

    scenario(
      "Warmpath repairs one lost tail after the other, between deltas",
      async (stream) => {
        const { peer } = stream;
        for (const length of [5, 3]) {
          await stream.staysSynchronized(() => peer.lose([removed(LEFT.slice(length))]));
          await stream.staysSynchronized(() => peer.publish([stored(LEFT.slice(length))]));
        }
      },
      { prepare },
    );
  },
  { fields: { resync_interval_ms: RESYNC_INTERVAL_MS } },
);

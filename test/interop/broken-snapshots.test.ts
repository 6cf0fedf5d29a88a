import { LEFT, RIGHT } from "./blocks.ts";
import { removed, stored } from "./cache-event.ts";
import type { PeerEngine, SnapshotMode } from "./peer-engine.ts";
import { describeInterop } from "./suite.ts";

const MAX_MESSAGE_BYTES = 65_536;

/** Far above the 300 ms of a late snapshot, so that a busy machine does not turn it into a missing one. */
const REPLAY_TIMEOUT_MS = 1500;

/** Makes a recovery necessary. */
async function lapse(peer: PeerEngine): Promise<void> {
  await peer.lose([stored(LEFT.slice(0, 6)), stored(RIGHT, "host")]);
  await peer.publish([removed(LEFT.slice(4, 6))]);
}

describeInterop(
  "A peer's snapshots",
  (scenario) => {
    const noneInTime = `no complete snapshot within replay_timeout_ms ${REPLAY_TIMEOUT_MS}`;
    const broken: [string, SnapshotMode, string][] = [
      ["that does not come", "silent", noneInTime],
      ["without an end", "no-end", noneInTime],
      ["that cannot be decoded", "garbage", "the snapshot cannot be decoded"],
      ["above the limit", { pad: MAX_MESSAGE_BYTES + 1 }, `snapshot larger than max_message_bytes ${MAX_MESSAGE_BYTES}`],
    ];
    for (const [name, mode, reason] of broken) {
      scenario(`Warmpath says why it abandons a snapshot ${name}, and asks again`, async (stream) => {
        const { peer } = stream;
        await stream.catchesUp();
        await peer.snapshot(mode);
        await lapse(peer);
        await stream.sees(reason);
        await peer.snapshot("whole");
        await stream.catchesUp();
        await stream.staysSynchronized(() => peer.publish([stored(LEFT)]));
      });
    }

    const usable: [string, SnapshotMode][] = [
      ["that comes late", "late"],
      ["with bytes behind its end", { pad: MAX_MESSAGE_BYTES / 2 }],
    ];
    for (const [name, mode] of usable) {
      scenario(`Warmpath takes a snapshot ${name}`, async (stream) => {
        const { peer } = stream;
        await stream.catchesUp();
        await peer.snapshot(mode);
        await lapse(peer);
        await stream.catchesUp();
      });
    }

    scenario(
      "Warmpath begins with a snapshot that was first refused",
      async (stream) => {
        await stream.sees("the snapshot cannot be decoded");
        await stream.peer.snapshot("whole");
        await stream.catchesUp();
      },
      { prepare: (peer) => peer.snapshot("garbage") },
    );

    scenario("Warmpath leaves blocks without a parent out of a snapshot, until they are stored again", async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      await peer.command({ orphan_snapshot: true });
      await peer.publish([stored(LEFT), stored(RIGHT)]);
      await stream.catchesUp();
      await peer.lose([removed(LEFT.slice(2, 3))]);
      const withoutOrphans = peer.cache.after([removed(LEFT.slice(3)), removed(RIGHT.slice(7))]);
      await peer.publish([removed(RIGHT.slice(7))], withoutOrphans);
      await stream.catchesUp();
      await stream.staysSynchronized(() => peer.publish([stored(LEFT.slice(2, 3), "host")]));
      await stream.staysSynchronized(() => peer.publish([stored(LEFT.slice(3))]));
    });
  },
  { fields: { max_message_bytes: MAX_MESSAGE_BYTES, replay_timeout_ms: REPLAY_TIMEOUT_MS } },
);

import { expect } from "bun:test";
import { LEFT, RIGHT } from "./blocks.ts";
import { CLEARED, removed, stored } from "./cache-event.ts";
import { CacheState } from "./cache-state.ts";
import { describeInterop } from "./suite.ts";
import { liveFrames, payloadOf, storeOf } from "./wire-batch.ts";

describeInterop("Following a peer", (scenario) => {
  scenario("Warmpath is synchronized at batch 0 with a peer that has published nothing", async (stream) => {
    await stream.catchesUp();
    expect(stream.batchSeq).toBe(0);
    await stream.staysSynchronized(() => stream.peer.publish([stored(LEFT)]));
  });

  scenario(
    "Warmpath begins with the snapshot and goes on with the deltas",
    async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      expect(stream.batchSeq).toBe(2);
      await stream.staysSynchronized(async () => {
        await peer.publish([stored(LEFT.slice(3)), removed(RIGHT.slice(1, 2), "host")]);
        await peer.publish([removed(LEFT.slice(7)), stored(RIGHT.slice(1, 4))]);
      });
    },
    {
      prepare: async (peer) => {
        await peer.publish([stored(LEFT.slice(0, 3)), stored(RIGHT.slice(0, 2))]);
        await peer.publish([stored(RIGHT.slice(0, 2), "host"), removed(RIGHT.slice(1, 2))]);
      },
    },
  );

  scenario("Warmpath loses no delta before, during and after a late snapshot", async (stream) => {
    const { peer } = stream;
    await stream.catchesUp();
    await peer.snapshot("late");
    await peer.lose([stored(LEFT)]);
    await stream.publishesThroughRecovery((step) => [step % 2 === 0 ? stored(RIGHT) : removed(RIGHT)]);
    for (const block of LEFT) await peer.publish([removed([block])]);
    await stream.catchesUp();
  });

  scenario("Warmpath drops a batch that is sent twice", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT)]);
      await peer.publish([removed(LEFT.slice(4))]);
      await peer.repeat(2);
      await peer.publish([stored(RIGHT)]);
      await peer.repeat(1);
    });
  });

  scenario("Warmpath takes other bytes under an old number for a restart", async (stream) => {
    const { peer } = stream;
    await stream.catchesUp();
    await peer.publish([stored(LEFT.slice(0, 4))]);
    await peer.publish([stored(LEFT.slice(4))]);
    await stream.catchesUp();
    const old = liveFrames("xllm-kv", 1, payloadOf([storeOf(RIGHT)]));
    await stream.failsWith("publisher restarted: batch 1 arrived after batch 2", () => peer.frames(old));
  });

  scenario("Warmpath names both numbers of a gap and recovers what was lost", async (stream) => {
    const { peer } = stream;
    await stream.catchesUp();
    await peer.publish([stored(LEFT)]);
    await stream.failsWith("gap: batch 2 expected, batch 3 arrived", async () => {
      await peer.lose([removed(LEFT.slice(2))]);
      await peer.publish([stored(RIGHT)]);
    });
  });

  scenario("Warmpath recovers from numbers that no batch will ever have", async (stream) => {
    const { peer } = stream;
    await stream.catchesUp();
    await stream.failsWith("gap: batch 1 expected, batch 4 arrived", async () => {
      await peer.vanish(3);
      await peer.publish([stored(LEFT)]);
    });
  });

  scenario("Warmpath takes a clear and stores after it for the whole state while no snapshot comes", async (stream) => {
    const { peer } = stream;
    await stream.catchesUp();
    await peer.snapshot("silent");
    await peer.lose([stored(LEFT)]);
    await peer.publish([stored(RIGHT.slice(0, 2), "host")]);
    await stream.sees("gap: batch 1 expected, batch 2 arrived");
    await peer.publish([CLEARED, stored(RIGHT.slice(0, 6)), stored(RIGHT.slice(0, 3), "host")]);
    await stream.staysSynchronized(() => peer.publish([stored(RIGHT.slice(6))]));
  });

  scenario(
    "Warmpath keeps two ranks of one instance apart",
    async (first, second) => {
      await first.catchesUp();
      await second.staysSynchronized(async () => {
        await first.peer.publish([stored(LEFT)]);
        await first.failsWith("gap: batch 2 expected, batch 3 arrived", async () => {
          await first.peer.lose([removed(LEFT)]);
          await first.peer.publish([stored(LEFT.slice(0, 2))]);
        });
        await second.peer.publish([stored(LEFT.slice(0, 4)), stored(RIGHT)]);
      });
    },
    { peers: [{ rank: 0 }, { rank: 1 }] },
  );

  scenario(
    "Warmpath ignores a topic that only begins with the configured one",
    async (stream) => {
      const { peer } = stream;
      await stream.staysSynchronized(async () => {
        await peer.publish([stored(LEFT)], null);
        peer.log.record(1, CacheState.EMPTY.after([stored(RIGHT)]));
        await peer.frames(liveFrames("xllm-kv", 1, payloadOf([storeOf(RIGHT)])));
      });
    },
    { peers: [{ topic: "xllm-kv-2" }] },
  );
});

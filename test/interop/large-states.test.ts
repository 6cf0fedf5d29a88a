import { chain } from "./blocks.ts";
import { offloaded, removed, stored } from "./cache-event.ts";
import { describeInterop } from "./suite.ts";

const LONG = chain("long", 6000);

/** Blocks that are alone. */
const SINGLES = Array.from({ length: 200 }, (_, index) => chain(`single ${index}`, 1)[0]);

/** Almost max_message_bytes: takes milliseconds to arrive. */
const SLOW_BYTES = 8_000_000;

/** Blocks per delta. */
const STEP = 500;

/** Batches of one replay: more than the 1000 that a socket is sure to hold; what it drops has to be asked for again. */
const REPLAYED = 5000;

/** Several requests, each of which may have to wait for its timeout. */
const LONG_REPLAY_TIMEOUT_MS = 30_000;

describeInterop(
  "A peer's thousands of blocks",
  (scenario) => {
    scenario(
      "Warmpath takes thousands of blocks from one snapshot",
      async (stream) => {
        const { peer } = stream;
        await stream.catchesUp();
        await peer.publish([removed(LONG.slice(5500)), offloaded(LONG.slice(0, 2500))]);
        await peer.publish([removed(LONG.slice(0, 2500))]);
        await stream.catchesUp();
      },
      { prepare: (peer) => peer.publish([stored(LONG)]) },
    );

    scenario("Warmpath takes thousands of blocks from one delta", async (stream) => {
      await stream.catchesUp();
      await stream.peer.publish([stored(LONG)]);
      await stream.catchesUp();
      await stream.peer.publish([removed(LONG)]);
      await stream.catchesUp();
    });

    scenario("Warmpath takes thousands of blocks from deltas of some hundred, one of which is lost", async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      for (let from = 0; from < LONG.length; from += STEP) {
        const events = [stored(LONG.slice(from, from + STEP))];
        if (from === LONG.length / 2) await peer.lose(events);
        else await peer.publish(events);
      }
      await stream.catchesUp();
      for (let from = LONG.length - STEP; from > 0; from -= STEP) await peer.publish([removed(LONG.slice(from, from + STEP))]);
      await stream.catchesUp();
    });

    scenario("Warmpath applies the deltas that overtake a large snapshot", async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      await peer.snapshot({ pad: SLOW_BYTES });
      await peer.lose([stored(LONG.slice(0, 100))]);
      // One block each, which the deltas after it leave alone: one that is left out stays wrong for a while.
      await stream.publishesThroughRecovery((step) => {
        const block = [SINGLES[step % SINGLES.length]];
        return [peer.cache.holds(block[0]) ? removed(block) : stored(block)];
      });
      await stream.catchesUp();
    });

    for (const engine of ["vllm", "sglang"] as const) {
      scenario(
        `Warmpath takes thousands of batches from the replay of an engine "${engine}"`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp({ timeoutMs: LONG_REPLAY_TIMEOUT_MS });
          await stream.staysSynchronized(() => peer.publish([removed(LONG.slice(2500))]));
        },
        {
          peers: [{ engine }],
          prepare: async (peer) => {
            for (let index = 0; index < REPLAYED; index++) await peer.publish([stored(LONG.slice(index, index + 1))]);
          },
        },
      );
    }
  },
  { prompts: [LONG] },
);

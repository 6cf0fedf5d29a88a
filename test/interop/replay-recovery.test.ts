import { LEFT, RIGHT } from "./blocks.ts";
import { CLEARED, removed, stored } from "./cache-event.ts";
import type { ObservedStream } from "./observed-stream.ts";
import type { PeerEngine, ReplayMode } from "./peer-engine.ts";
import { NO_ANSWER, REPLAY_TIMEOUT_MS, REPLAYING_PEERS } from "./replaying-peers.ts";
import { describeInterop } from "./suite.ts";

const PUBLISH_MS = 5;

/** Batch 0, before Warmpath comes. */
function prepare(peer: PeerEngine): Promise<void> {
  return peer.publish([stored(LEFT)]);
}

/** Five batches that do not arrive, and a sixth that does. */
async function lapse({ peer }: ObservedStream): Promise<void> {
  for (const block of LEFT.slice(4).reverse()) await peer.lose([removed([block]), stored([block], "host")]);
  await peer.lose([stored(RIGHT)]);
  await peer.publish([removed(RIGHT.slice(6))]);
}

describeInterop(
  "A peer that replays what was lost",
  (scenario) => {
    for (const [name, peer] of REPLAYING_PEERS) {
      const options = { peers: [peer], prepare };

      const complete: [string, ReplayMode][] = [
        ["", "whole"],
        [" although a batch is missing from the middle of each reply", "hole"],
        [" although each reply ends in the middle", "cut"],
        [" although no reply has an end", "no-end"],
      ];
      for (const [manner, mode] of complete) {
        scenario(
          `Warmpath recovers every batch that ${name} lost${manner}`,
          async (stream) => {
            await stream.catchesUp();
            await stream.peer.replay(mode);
            await lapse(stream);
            await stream.publishesThroughRecovery((step) => [step % 2 === 0 ? stored(RIGHT.slice(6)) : removed(RIGHT.slice(6))]);
            await stream.catchesUp();
            await stream.staysSynchronized(() => stream.peer.publish([removed(RIGHT)]));
          },
          options,
        );
      }

      scenario(
        `Warmpath names both numbers of a gap of ${name}, says that no reply comes, and asks again`,
        async (stream) => {
          await stream.catchesUp();
          await stream.peer.replay("silent");
          await lapse(stream);
          await stream.sees("gap: batch 1 expected, batch 6 arrived");
          await stream.sees(NO_ANSWER);
          await stream.peer.publish([stored(LEFT.slice(4))]);
          await stream.peer.replay("whole");
          await stream.catchesUp();
        },
        options,
      );

      scenario(
        `Warmpath goes on without what ${name} never replays, and knows everything from a clear on`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.replay("silent");
          await peer.lose([removed(LEFT)]);
          await peer.publish([stored(LEFT.slice(0, 3))]);
          await stream.sees(NO_ANSWER);
          await stream.knowsNothing();
          await peer.publish([stored(RIGHT.slice(0, 3)), stored(LEFT.slice(4))]);
          await stream.catchesUp({ known: peer.emptyCache.after([stored(RIGHT.slice(0, 3))]) });
          await peer.publish([CLEARED, stored(LEFT)]);
          await stream.staysSynchronized(() => peer.publish([stored(RIGHT)]));
        },
        options,
      );

      scenario(
        `Warmpath claims nothing that ${name} has not, which publishes on and never replays`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.replay("silent");
          await peer.lose([removed(LEFT.slice(2))]);
          const publish = async (step: number) => {
            await Bun.sleep(PUBLISH_MS);
            return [step % 2 === 0 ? stored(RIGHT) : removed(RIGHT)];
          };
          await stream.publishesThroughRecovery(publish);
          await stream.hearsLast();
          await peer.publish([CLEARED, stored(LEFT)]);
          await stream.catchesUp();
        },
        options,
      );

      scenario(
        `Warmpath forgets what lies before numbers that no batch of ${name} will ever have`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.vanish(3);
          await peer.publish([stored(RIGHT.slice(0, 5)), stored(LEFT.slice(0, 1), "host")]);
          const known = peer.emptyCache.after([stored(RIGHT.slice(0, 5)), stored(LEFT.slice(0, 1), "host")]);
          await stream.catchesUp({ known });
          await peer.publish([removed(RIGHT.slice(3))]);
          await stream.catchesUp({ known: known.after([removed(RIGHT.slice(3))]) });
        },
        options,
      );

      scenario(
        `Warmpath forgets what lies before a gap that the buffer of ${name} does not reach over`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.lose([removed(LEFT)]);
          await peer.lose([stored(RIGHT)]);
          await peer.publish([stored(LEFT.slice(0, 2), "host")]);
          const known = peer.emptyCache.after([stored(RIGHT), stored(LEFT.slice(0, 2), "host")]);
          await stream.catchesUp({ known });
        },
        { ...options, peers: [{ ...peer, bufferSteps: 2 }] },
      );
    }
  },
  { fields: { replay_timeout_ms: REPLAY_TIMEOUT_MS } },
);

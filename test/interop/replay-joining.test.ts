import { LEFT, RIGHT } from "./blocks.ts";
import { type CacheEvent, CLEARED, removed, stored } from "./cache-event.ts";
import type { PeerEngine } from "./peer-engine.ts";
import { REPLAY_TIMEOUT_MS, REPLAYING_PEERS } from "./replaying-peers.ts";
import { describeInterop } from "./suite.ts";

/** What happened before Warmpath came, a batch each; the last two are the buffer that does not reach back. */
const EARLIER: readonly CacheEvent[][] = [
  [stored(LEFT.slice(0, 4)), stored(RIGHT.slice(0, 2))],
  [stored(LEFT.slice(0, 2), "host")],
  [stored(LEFT.slice(4)), removed(RIGHT.slice(1, 2))],
  [stored(RIGHT.slice(0, 1), "host"), stored(RIGHT.slice(1, 3)), removed(LEFT.slice(7))],
];

const SHORT_BUFFER = 2;

/** Longer than a client takes to notice. */
const DISCONNECT_MS = 300;

async function prepare(peer: PeerEngine): Promise<void> {
  for (const events of EARLIER) await peer.publish(events);
}

describeInterop(
  "Joining a peer that replays",
  (scenario) => {
    for (const [name, peer] of REPLAYING_PEERS) {
      scenario(
        `Warmpath knows everything of ${name} that it has followed from batch 0`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp({ known: peer.emptyCache });
          await peer.publish([stored(LEFT), stored(RIGHT, "disk")]);
          await stream.staysSynchronized(() => peer.publish([removed(LEFT.slice(5)), removed(RIGHT, "disk")]));
        },
        { peers: [peer] },
      );

      scenario(
        `Warmpath knows everything of ${name} whose buffer reaches back to batch 0`,
        async (stream) => {
          await stream.staysSynchronized(() => stream.peer.publish([removed(LEFT.slice(1, 2))]));
        },
        { peers: [peer], prepare },
      );

      scenario(
        `Warmpath knows of ${name} what its buffer holds, and everything from a clear on`,
        async (stream) => {
          const { peer } = stream;
          // What continues blocks from before the buffer cannot be known.
          const known = peer.emptyCache.after([stored(RIGHT.slice(0, 1), "host")]);
          await stream.catchesUp({ known: known.after([stored(RIGHT.slice(1, 3))]) });
          await peer.publish([removed(RIGHT.slice(2, 3)), stored(RIGHT.slice(2)), stored(LEFT.slice(0, 3))]);
          await stream.catchesUp({ known: known.after([stored(RIGHT.slice(1)), stored(LEFT.slice(0, 3))]) });
          await peer.publish([stored(RIGHT), CLEARED, stored(LEFT)]);
          await stream.staysSynchronized(() => peer.publish([stored(RIGHT)]));
        },
        { peers: [{ ...peer, bufferSteps: SHORT_BUFFER }], prepare },
      );
    }

    scenario(
      "Warmpath loses no batch of a peer that publishes while it is joined",
      async (stream) => {
        const { peer } = stream;
        await stream.publishesThroughRecovery((step) => [step % 2 === 0 ? stored(RIGHT.slice(3)) : removed(RIGHT.slice(3))]);
        for (const block of LEFT) await peer.publish([removed([block])]);
        await stream.catchesUp();
      },
      {
        peers: [{ engine: "vllm" }],
        prepare: async (peer) => {
          await prepare(peer);
          for (let step = 0; step < 1000; step++) await peer.publish([step % 2 === 0 ? stored(LEFT) : removed(LEFT)]);
        },
      },
    );
  },
  { fields: { replay_timeout_ms: REPLAY_TIMEOUT_MS } },
);

describeInterop("Joining a peer without a replay endpoint", (scenario) => {
  for (const engine of ["vllm", "sglang"] as const) {
    const peers = [{ engine, hasReplay: false }];

    scenario(
      `Warmpath knows everything of an engine "${engine}" that it has followed from batch 0`,
      async (stream) => {
        const { peer } = stream;
        await stream.knowsNothing();
        await peer.publish([stored(LEFT)]);
        await stream.hearsLast();
        await stream.staysSynchronized(() => peer.publish([removed(LEFT.slice(3)), stored(RIGHT, "host")]));
      },
      { peers },
    );

    scenario(
      `Warmpath knows of an engine "${engine}" what it has seen, and everything from a clear on`,
      async (stream) => {
        const { peer } = stream;
        const seen: CacheEvent[] = [stored(RIGHT.slice(0, 2), "host")];
        await stream.knowsNothing();
        await peer.publish([...seen, stored(LEFT.slice(7))]);
        await stream.hearsLast();
        await stream.catchesUp({ known: peer.emptyCache.after(seen) });
        await peer.publish([CLEARED]);
        await stream.staysSynchronized(() => peer.publish([stored(LEFT)]));
      },
      { peers, prepare },
    );

    scenario(
      `Warmpath begins anew with the batch after a gap of an engine "${engine}"`,
      async (stream) => {
        const { peer } = stream;
        await stream.knowsNothing();
        await peer.publish([stored(LEFT)]);
        await stream.hearsLast();
        await stream.catchesUp();
        await peer.lose([removed(LEFT.slice(4))]);
        await peer.publish([stored(RIGHT.slice(0, 2))]);
        await stream.catchesUp({ known: peer.emptyCache.after([stored(RIGHT.slice(0, 2))]) });
        await peer.vanish(2);
        await peer.publish([stored(RIGHT.slice(0, 1), "host"), stored(LEFT.slice(4), "host")]);
        await stream.catchesUp({ known: peer.emptyCache.after([stored(RIGHT.slice(0, 1), "host")]) });
      },
      { peers },
    );

    scenario(
      `Warmpath begins anew when an engine "${engine}" has been away, and knows everything of one that was started again`,
      async (stream) => {
        const { peer } = stream;
        await stream.knowsNothing();
        await peer.publish([stored(LEFT)]);
        await stream.hearsLast();
        await stream.catchesUp();
        await peer.disconnect(DISCONNECT_MS);
        await stream.sees("the publisher disconnected");
        await stream.knowsNothing();
        await peer.publish([stored(RIGHT)]);
        await stream.hearsLast();
        await stream.catchesUp({ known: peer.emptyCache.after([stored(RIGHT)]) });
        await peer.restart([]);
        await stream.sees("the publisher disconnected");
        await stream.knowsNothing();
        await peer.publish([stored(LEFT.slice(0, 3))]);
        await stream.hearsLast();
        await stream.catchesUp();
      },
      { peers },
    );
  }
});

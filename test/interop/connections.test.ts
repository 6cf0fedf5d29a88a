import { LEFT, RIGHT } from "./blocks.ts";
import { removed, stored } from "./cache-event.ts";
import type { PeerEngine } from "./peer-engine.ts";
import { describeInterop } from "./suite.ts";

const DISCONNECT_MS = 2000;

async function prepare(peer: PeerEngine): Promise<void> {
  await peer.publish([stored(LEFT), stored(RIGHT.slice(0, 4), "host")]);
  await peer.publish([removed(LEFT.slice(6))]);
  await peer.publish([removed(RIGHT.slice(2, 4), "host")]);
}

describeInterop("A peer's connections", (scenario) => {
  scenario(
    "Warmpath forgets everything of a peer that restarts empty",
    async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      await peer.restart([]);
      await stream.catchesUp();
      await stream.staysSynchronized(() => peer.publish([stored(RIGHT)]));
    },
    { prepare },
  );

  scenario(
    "Warmpath takes over the other cache of a peer that restarts",
    async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      await peer.restart([stored(RIGHT), stored(LEFT.slice(0, 1), "host")]);
      await stream.catchesUp();
      await stream.staysSynchronized(() => peer.publish([removed(RIGHT.slice(3))]));
    },
    { prepare },
  );

  scenario(
    "Warmpath follows a peer through one restart after the other",
    async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      for (const length of [2, 5, 3]) await peer.restart([stored(LEFT.slice(0, length))]);
      await peer.publish([stored(RIGHT)]);
      await stream.catchesUp();
    },
    { prepare },
  );

  scenario(
    "Warmpath scores nothing while a peer is away, and has it back afterwards",
    async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      await peer.disconnect(DISCONNECT_MS);
      await stream.sees("the publisher disconnected");
      await peer.publish([stored(RIGHT.slice(0, 2), "host")]);
      await stream.catchesUp();
    },
    { prepare },
  );

  scenario(
    "Warmpath does not miss what a peer publishes right after it came back",
    async (stream) => {
      const { peer } = stream;
      await stream.catchesUp();
      await peer.disconnect(100);
      for (const [index] of RIGHT.entries()) await peer.publish([stored(RIGHT.slice(index, index + 1), "host")]);
      await stream.catchesUp();
    },
    { prepare },
  );

  scenario(
    "Warmpath does not take a quiet peer for a lost one",
    async (stream) => {
      await stream.staysSynchronized(() => Bun.sleep(DISCONNECT_MS));
    },
    { prepare },
  );
});

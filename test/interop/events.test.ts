import { LEFT, RIGHT } from "./blocks.ts";
import { type AnnouncementForm, CLEARED, offloaded, removed, stored } from "./cache-event.ts";
import { describeInterop } from "./suite.ts";

describeInterop("A peer's events", (scenario) => {
  scenario("Warmpath keeps the host replica of a block that leaves the device", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT), stored(LEFT.slice(0, 5), "host")]);
      await peer.publish([removed(LEFT.slice(2))]);
    });
  });

  scenario("Warmpath keeps the device block whose host replica leaves", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT), stored(LEFT.slice(0, 5), "host")]);
      await peer.publish([removed(LEFT.slice(1, 4), "host")]);
    });
  });

  scenario("Warmpath adds the host to known blocks that are stored without tokens, and ignores unknown ones", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT.slice(0, 6)), offloaded(LEFT), offloaded(RIGHT)]);
      await peer.publish([removed(LEFT.slice(0, 3))]);
    });
  });

  scenario("Warmpath finds the children of a removed parent again when it returns", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT)]);
      await peer.publish([removed(LEFT.slice(2, 3))]);
    });
    await stream.staysSynchronized(() => peer.publish([stored(LEFT.slice(2, 3), "host")]));
  });

  scenario("Warmpath needs one removal however often a block was stored", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT), stored(LEFT)]);
      await peer.publish([stored(LEFT.slice(0, 6))]);
      await peer.publish([removed(LEFT.slice(5))]);
    });
  });

  scenario("Warmpath ignores removals of blocks that are not there, and applies the rest", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT)]);
      await peer.publish([removed([...RIGHT, ...LEFT.slice(6), ...RIGHT]), removed(LEFT, "host")]);
    });
  });

  scenario("Warmpath drops every tier at a clear", async (stream) => {
    const { peer } = stream;
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT), stored(RIGHT, "host")]);
      await peer.publish([CLEARED]);
    });
    await stream.staysSynchronized(() => peer.publish([stored(RIGHT), CLEARED, stored(LEFT.slice(0, 3), "host")]));
  });

  scenario("Warmpath leaves an event out that it does not know, and applies the rest of its batch", async (stream) => {
    const { peer } = stream;
    const unknown = [
      { type: "BlockPromoted", block_hashes: [1] },
      { type: "AllBlocksCleared", added: { later: [null] } },
    ];
    await stream.staysSynchronized(async () => {
      await peer.publish([stored(LEFT)]);
      await peer.publishWords(unknown, peer.cache.after([CLEARED]));
    });
  });

  const forms: [string, AnnouncementForm][] = [
    ["arrays", { shape: "array", hashes: "unsigned" }],
    ["maps with signed hashes", { shape: "map", hashes: "signed" }],
    ["maps with digests for hashes", { shape: "map", hashes: "digest" }],
    ["arrays with digests for hashes", { shape: "array", hashes: "digest" }],
  ];
  for (const [name, form] of forms) {
    scenario(
      `Warmpath reads events that are ${name}`,
      async (stream) => {
        const { peer } = stream;
        await stream.staysSynchronized(async () => {
          await peer.publish([stored(LEFT.slice(4)), removed(RIGHT.slice(2)), offloaded(LEFT)]);
          await peer.publish([removed(LEFT.slice(1)), stored(RIGHT.slice(2, 4), "host")]);
        });
        await stream.staysSynchronized(() => peer.publish([CLEARED, stored(RIGHT)]));
      },
      {
        prepare: async (peer) => {
          peer.form = form;
          await peer.publish([stored(LEFT.slice(0, 4)), stored(RIGHT)]);
        },
      },
    );
  }

  const outers: [string, Record<string, unknown>][] = [
    ["without a rank", { outer: 2 }],
    ["with a rank", { outer: 3 }],
    ["of which the rank is nil", { batch_rank: null }],
    ["that are maps", { outer: "map" }],
  ];
  for (const [name, command] of outers) {
    scenario(
      `Warmpath reads batches ${name}`,
      async (stream) => {
        await stream.staysSynchronized(() => stream.peer.publish([stored(LEFT.slice(4)), removed(LEFT.slice(0, 2))]));
      },
      {
        prepare: async (peer) => {
          await peer.command(command);
          await peer.publish([stored(LEFT.slice(0, 4))]);
        },
      },
    );
  }
});

import { LEFT, RIGHT } from "./blocks.ts";
import { type AnnouncementForm, CLEARED, offloaded, removed, stored } from "./cache-event.ts";
import { describeInterop } from "./suite.ts";

const ENGINES = ["vllm", "sglang"] as const;

describeInterop("Batches of vLLM and SGLang", (scenario) => {
  const forms: [string, AnnouncementForm][] = [
    ["arrays", { shape: "array", hashes: "unsigned" }],
    ["maps with signed hashes", { shape: "map", hashes: "signed" }],
    ["arrays and maps in turn, with digests for hashes", { shape: "mixed", hashes: "digest" }],
  ];
  for (const engine of ENGINES) {
    for (const [name, form] of forms) {
      scenario(
        `Warmpath reads events of an engine "${engine}" that are ${name}`,
        async (stream) => {
          const { peer } = stream;
          await stream.staysSynchronized(async () => {
            await peer.publish([
              stored(LEFT.slice(4)),
              removed(RIGHT.slice(2)),
              offloaded(LEFT),
              stored(LEFT.slice(0, 2), "disk"),
            ]);
            await peer.publish([removed(LEFT.slice(1)), stored(RIGHT.slice(2, 4), "host"), removed(LEFT.slice(1, 2), "disk")]);
          });
          await stream.staysSynchronized(() => peer.publish([CLEARED, stored(RIGHT)]));
        },
        {
          peers: [{ engine }],
          prepare: async (peer) => {
            peer.form = form;
            await peer.publish([stored(LEFT.slice(0, 4)), stored(RIGHT)]);
          },
        },
      );
    }

    scenario(
      `Warmpath takes a digest and its integer for the same block of an engine "${engine}"`,
      async (stream) => {
        const { peer } = stream;
        await stream.staysSynchronized(async () => {
          await peer.publish([stored(LEFT.slice(0, 4))]);
          peer.form = { shape: "array", hashes: "digest" };
          await peer.publish([stored(LEFT.slice(4)), removed(LEFT.slice(1, 2))]);
          peer.form = { shape: "map", hashes: "signed" };
          await peer.publish([removed(LEFT.slice(6))]);
        });
      },
      { peers: [{ engine }], prepare: (peer) => peer.publish([stored(RIGHT)]) },
    );

    const outers: [string, Record<string, unknown>][] = [
      ["without a rank", { outer: 2 }],
      ["of another rank than its own", { batch_rank: 7 }],
      ["of which the rank is nil", { batch_rank: null }],
      ["that are maps", { outer: "map" }],
    ];
    for (const [name, command] of outers) {
      scenario(
        `Warmpath reads batches of an engine "${engine}" ${name}`,
        async (stream) => {
          await stream.staysSynchronized(() => stream.peer.publish([stored(LEFT.slice(4)), removed(LEFT.slice(0, 2))]));
        },
        {
          peers: [{ engine }],
          prepare: async (peer) => {
            await peer.command(command);
            await peer.publish([stored(LEFT.slice(0, 4))]);
          },
        },
      );
    }
  }
});

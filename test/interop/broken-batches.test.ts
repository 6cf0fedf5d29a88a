import { LEFT, RIGHT } from "./blocks.ts";
import { removed, stored } from "./cache-event.ts";
import type { ObservedStream } from "./observed-stream.ts";
import { describeInterop } from "./suite.ts";
import { liveFrames, payloadOf, storeOf } from "./wire-batch.ts";

const MAX_MESSAGE_BYTES = 65_536;

/** The scenarios of this file take about this long, side by side. */
const ALL_FAIL_MS = 2500;
const PUBLISH_MS = 5;

/** A stream that is following: its batch 1 is here, and came live. */
async function follow(stream: ObservedStream): Promise<void> {
  await stream.catchesUp();
  await stream.peer.publish([stored(LEFT)]);
  await stream.catchesUp();
}

describeInterop(
  "A peer's broken batches",
  (scenario) => {
    scenario("Warmpath recovers from a batch that is not MessagePack", async (stream) => {
      await follow(stream);
      await stream.failsWith("batch 2 cannot be decoded", () => stream.peer.raw(Uint8Array.of(0x93, 0xc1, 0xc1)));
    });

    scenario("Warmpath recovers from a batch that ends in the middle", async (stream) => {
      await follow(stream);
      const half = payloadOf([storeOf(RIGHT)]).subarray(0, 60);
      await stream.failsWith("batch 2 cannot be decoded", () => stream.peer.raw(half));
    });

    scenario("Warmpath recovers from an event without its fields", async (stream) => {
      await follow(stream);
      const payload = payloadOf([storeOf(RIGHT), { type: "BlockStored", block_hashes: [1] }]);
      await stream.failsWith("batch 2 holds an event that cannot be understood", () => stream.peer.raw(payload));
    });

    scenario("Warmpath recovers from a parent that was never announced", async (stream) => {
      await follow(stream);
      const { peer } = stream;
      const reason = "batch 2 names a parent block that was never announced";
      await stream.failsWith(reason, () => peer.publish([stored(RIGHT.slice(3))], peer.cache));
    });

    scenario(
      "Warmpath recovers from a batch of another rank when the peer's snapshot has the right one again",
      async (stream) => {
        await follow(stream);
        const { peer } = stream;
        await peer.command({ batch_rank: 3 });
        await peer.publish([stored(RIGHT)]);
        await stream.sees("rank 3, configured 0");
        await peer.command({ batch_rank: 0 });
        await stream.catchesUp();
      },
    );

    const sixteen = {
      type: "BlockStored",
      block_hashes: [1],
      parent_block_hash: null,
      token_ids: Array.from({ length: 16 }, (_, token) => token),
      block_size: 16,
      medium: "gpu",
    };
    const unfit: [string, Record<string, unknown>][] = [
      ["block size 16, configured 4", sixteen],
      ["16 tokens for 1 blocks", { ...sixteen, block_size: 4 }],
    ];
    for (const [reason, event] of unfit) {
      scenario(`Warmpath says "${reason}" until the block has left the peer's snapshot`, async (stream) => {
        await follow(stream);
        const { peer } = stream;
        await peer.publishWords([event], null);
        await stream.sees(reason);
        await peer.publishWords([{ type: "BlockRemoved", block_hashes: [1], medium: "gpu" }], peer.cache);
        await stream.catchesUp();
      });
    }

    scenario("Warmpath recovers from a message of two frames", async (stream) => {
      await follow(stream);
      const [topic, , payload] = liveFrames("xllm-kv", 2, payloadOf([storeOf(RIGHT)]));
      const reason = "a message of 2 frames is not topic, batch sequence, payload";
      await stream.failsWith(reason, () => stream.peer.frames([topic, payload]));
    });

    scenario("Warmpath recovers from a batch sequence of four bytes", async (stream) => {
      await follow(stream);
      const [topic, number, payload] = liveFrames("xllm-kv", 2, payloadOf([storeOf(RIGHT)]));
      const reason = "a message of 3 frames is not topic, batch sequence, payload";
      await stream.failsWith(reason, () => stream.peer.frames([topic, number.subarray(4), payload]));
    });

    scenario("Warmpath recovers from a message above the limit", async (stream) => {
      await follow(stream);
      const tooLarge = new Uint8Array(MAX_MESSAGE_BYTES + 1);
      const reason = `message larger than max_message_bytes ${MAX_MESSAGE_BYTES}`;
      await stream.failsWith(reason, () => stream.peer.raw(tooLarge));
    });

    scenario("Warmpath follows a stream without a pause while all of these fail", async (stream) => {
      const { peer } = stream;
      const endMs = performance.now() + ALL_FAIL_MS;
      await stream.staysSynchronized(async () => {
        while (performance.now() < endMs) {
          await peer.publish([peer.cache.holds(RIGHT[0]) ? removed(RIGHT) : stored(RIGHT)]);
          await Bun.sleep(PUBLISH_MS);
        }
      });
    });
  },
  { fields: { max_message_bytes: MAX_MESSAGE_BYTES } },
);

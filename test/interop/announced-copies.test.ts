import { BLOCK_SIZE, type Block, LEFT, RIGHT } from "./blocks.ts";
import { type CacheEvent, CLEARED, offloaded, removed, stored } from "./cache-event.ts";
import type { ObservedStream } from "./observed-stream.ts";
import type { PeerEngine } from "./peer-engine.ts";
import { REPLAY_TIMEOUT_MS } from "./replaying-peers.ts";
import { describeInterop } from "./suite.ts";

const ENGINES = ["vllm", "sglang"] as const;

/** The words of these events, with more fields in each. */
function withFields(words: readonly unknown[], fields: Record<string, unknown>): unknown[] {
  return words.map((event) => ({ ...(event as object), ...fields }));
}

const SLIDING = { group_idx: 1, kv_cache_spec_kind: "sliding_window", kv_cache_spec_sliding_window: 128 };

/** An array's fields up to the group: medium, adapter, extra keys. */
function slidingArrays(blocks: readonly Block[]): unknown[] {
  const hashes = blocks.map(({ hash }) => `#${hash}`);
  const tokens = blocks.flatMap((block) => block.tokens);
  return [
    ["BlockStored", hashes, null, tokens, BLOCK_SIZE, null, "GPU", null, null, 1, "sliding_window", 128],
    // A window leaves blocks out, so that there are more tokens than hashes; and sometimes no hash at all.
    ["BlockStored", hashes.slice(0, 1), null, tokens, BLOCK_SIZE, null, "GPU", null, null, 2, "mamba", null],
    ["BlockStored", [], null, tokens, BLOCK_SIZE, null, "GPU", null, null, 1],
    ["BlockRemoved", hashes, "GPU", 1],
  ];
}

async function follow({ peer }: ObservedStream, words: readonly unknown[]): Promise<void> {
  await peer.publishWords(words, peer.cache);
}

/** A block of sixteen tokens. */
const SIXTEEN = {
  type: "BlockStored",
  block_hashes: [1],
  parent_block_hash: null,
  token_ids: Array.from({ length: 16 }, (_, token) => token),
  block_size: 16,
  medium: "GPU",
};

describeInterop(
  "Copies that vLLM and SGLang announce",
  (scenario) => {
    for (const engine of ENGINES) {
      const options = { peers: [{ engine }], prepare: (peer: PeerEngine) => peer.publish([stored(LEFT)]) };

      scenario(
        `Warmpath counts the copies of a block on each tier of an engine "${engine}"`,
        async (stream) => {
          const { peer } = stream;
          await stream.staysSynchronized(async () => {
            await peer.publish([stored(LEFT), stored(LEFT.slice(0, 4)), stored(LEFT.slice(0, 6), "host")]);
            await peer.publish([removed(LEFT), stored(LEFT.slice(0, 2), "host"), removed(LEFT.slice(0, 6), "host")]);
          });
          await stream.staysSynchronized(() => peer.publish([removed(LEFT.slice(3))]));
          await stream.staysSynchronized(() => peer.publish([removed([...LEFT.slice(1), ...LEFT.slice(1), ...RIGHT])]));
          await stream.staysSynchronized(() => peer.publish([stored(LEFT), removed(LEFT.slice(2)), removed(LEFT.slice(5))]));
        },
        options,
      );

      scenario(
        `Warmpath counts the copies of an engine "${engine}" that a replay brings`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          await peer.lose([stored(LEFT), removed(LEFT.slice(3))]);
          await peer.publish([stored(RIGHT), stored(RIGHT)]);
          await stream.catchesUp();
          await stream.staysSynchronized(() => peer.publish([removed(LEFT.slice(2)), removed(RIGHT)]));
        },
        options,
      );

      scenario(
        `Warmpath adds the host to blocks of an engine "${engine}" that are stored without tokens, once for each time`,
        async (stream) => {
          const { peer } = stream;
          await stream.staysSynchronized(async () => {
            await peer.publish([offloaded(LEFT.slice(0, 6)), offloaded(RIGHT)]);
            await peer.publish([offloaded(LEFT.slice(0, 2)), removed(LEFT.slice(0, 3))]);
          });
          await stream.staysSynchronized(() => peer.publish([removed(LEFT.slice(0, 6), "host")]));
        },
        options,
      );

      scenario(
        `Warmpath credits no medium of an engine "${engine}" that is not its own, and no unknown one`,
        async (stream) => {
          const { peer } = stream;
          await stream.staysSynchronized(async () => {
            const [stores, removals] = [peer.announced([stored(RIGHT)]), peer.announced([removed(LEFT)])];
            for (const medium of ["EXTERNAL", "REMOTE", "HOLOGRAM"]) {
              await follow(stream, [...withFields(stores, { medium }), ...withFields(removals, { medium })]);
            }
            const shared = { medium: "STORAGE", locality: "REMOTE" };
            await follow(stream, [...withFields(stores, shared), ...withFields(removals, shared)]);
            await follow(stream, withFields(stores, { medium: "STORAGE", locality: "LOCAL", ownership: "kvcr" }));
          });
          await stream.staysSynchronized(() => peer.publish([stored(RIGHT), removed(LEFT.slice(4))]));
        },
        options,
      );

      scenario(
        `Warmpath leaves out a block of another size that an engine "${engine}" stores, and applies the rest of its batch`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          const rest = [removed(LEFT.slice(6)), stored(RIGHT.slice(0, 3))];
          const known = peer.cache.after(rest);
          await stream.staysSynchronized(
            () => peer.publishWords([...peer.announced(rest), SIXTEEN, { ...SIXTEEN, block_size: BLOCK_SIZE }], known),
            { known },
          );
          await peer.publish([stored(RIGHT.slice(3))]);
          await stream.catchesUp({ known: known.after([stored(RIGHT.slice(3))]) });
          await peer.publish([CLEARED, stored(RIGHT)]);
          await stream.catchesUp();
        },
        options,
      );

      scenario(
        `Warmpath leaves out an event of an engine "${engine}" that cannot be understood, and applies the rest of its batch`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          const rest = [removed(LEFT.slice(6)), stored(RIGHT.slice(0, 3))];
          const known = peer.cache.after(rest);
          const broken = { type: "BlockStored", block_hashes: "none", parent_block_hash: null, token_ids: [], block_size: 0 };
          await stream.staysSynchronized(() => peer.publishWords([broken, ["BlockMoved", 1], ...peer.announced(rest)], known), {
            known,
          });
          await peer.publish([CLEARED, stored(RIGHT)]);
          await stream.catchesUp();
        },
        options,
      );

      scenario(
        `Warmpath says that an engine "${engine}" names an unknown parent, and goes on without that block`,
        async (stream) => {
          const { peer } = stream;
          await stream.catchesUp();
          const known = peer.cache;
          const reason = "batch 1 names a parent block that was never announced";
          await stream.failsWith(reason, () => peer.publish([stored(RIGHT.slice(3))]), { known });
          await peer.publish([stored(RIGHT.slice(0, 3))]);
          await stream.catchesUp({ known: known.after([stored(RIGHT.slice(0, 3))]) });
        },
        options,
      );
    }

    scenario(
      "Warmpath leaves a full-attention block alone when a group of another kind stores and removes the same hash",
      async (stream) => {
        const { peer } = stream;
        await stream.staysSynchronized(async () => {
          await follow(stream, withFields(peer.announced([stored(LEFT), stored(RIGHT)]), SLIDING));
          await follow(stream, withFields(peer.announced([removed(LEFT)]), SLIDING));
          await follow(stream, withFields(peer.announced([removed(LEFT)]), { group_idx: 1 }));
          await follow(stream, slidingArrays(LEFT));
        });
        const full = { group_idx: 0, kv_cache_spec_kind: "full_attention" };
        await stream.staysSynchronized(() => {
          const words = withFields(peer.announced([stored(RIGHT), removed(LEFT.slice(4))]), full);
          return peer.publishWords(words, peer.cache.after([stored(RIGHT), removed(LEFT.slice(4))]));
        });
      },
      { peers: [{ engine: "vllm" }], prepare: (peer) => peer.publish([stored(LEFT)]) },
    );

    scenario(
      "Warmpath follows full attention in whichever group the stores name, also through removals that name the group alone",
      async (stream) => {
        const { peer } = stream;
        const publish = (events: readonly CacheEvent[], fields: Record<string, unknown>) =>
          peer.publishWords(withFields(peer.announced(events), fields), peer.cache.after(events));
        await stream.staysSynchronized(async () => {
          await publish([stored(RIGHT), stored(LEFT, "host")], { group_idx: 3, kv_cache_spec_kind: "mla_attention" });
          await follow(stream, withFields(peer.announced([stored(LEFT)]), { ...SLIDING, group_idx: 0 }));
          await publish([removed(RIGHT.slice(2)), removed(LEFT.slice(5), "host")], { group_idx: 3 });
          await follow(stream, withFields(peer.announced([removed(LEFT), removed(RIGHT)]), { group_idx: 0 }));
        });
      },
      { peers: [{ engine: "vllm" }], prepare: (peer) => peer.publish([stored(LEFT)]) },
    );
  },
  { fields: { replay_timeout_ms: REPLAY_TIMEOUT_MS } },
);

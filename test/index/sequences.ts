/** Random sequences of batches for four streams, in families that each look for another kind of trouble. */

import fc from "fast-check";
import { extraKeyBytes, loraNameRoot, type Namespace, TIERS, type Tier, type UnsynchronizedReason } from "#domain";
import { crowdedHash, distinctHash, scarceHash } from "./engine-hashes.ts";
import { PromptForest, type Stretch } from "./prompt-forest.ts";

/** One event of a batch, in numbers that shrink well. */
export interface EventPlan {
  kind: "store" | "store-known" | "remove" | "clear" | "wrong-size";
  stretch: Stretch;
  tier: Tier;
  disguised: boolean;
}

export interface BatchPlan {
  stream: number;
  /**
   * Of two batches: "snapshot" is a state and changes that follow it; "resume" and "rejoin" keep the first out of sight and show
   * the second, the former where the stream was, the latter from nothing on.
   */
  kind: "changes" | "known-part" | "state" | "snapshot" | "resume" | "rejoin" | "fail" | "reopen";
  events: EventPlan[];
}

/** What a family of sequences is about. */
export interface Family {
  name: string;
  forest: PromptForest;
  blocksMax: number;
  /** Blocks of one event at most. */
  stretchMax: number;
  batchesMax: number;
  /** Contents under two hashes in one stream: the index may then report less than the stream holds. */
  aliases: boolean;
  /** Problems that the sequences must run into. */
  problems: readonly UnsynchronizedReason[];
  runs: number;
}

const ADAPTER = loraNameRoot("adapter-a");
const [SALT, OTHER_SALT] = [extraKeyBytes(["salt-1"]), extraKeyBytes(["salt-2"])];
const IMAGE = extraKeyBytes([{ identifier: "image-1", offset: 1 }]);

/**
 * Plain text; an adapter, alone and with extra keys; a salt; an item within the prompt, alone and behind a salt. Where two of them
 * have blocks in common, these are plain.
 */
const NAMESPACES: readonly (Namespace | null)[] = [
  null,
  { root: ADAPTER, extraKeys: null },
  { root: ADAPTER, extraKeys: [SALT, null, IMAGE] },
  { root: null, extraKeys: [SALT] },
  { root: null, extraKeys: [null, null, IMAGE, IMAGE, null] },
  { root: null, extraKeys: [OTHER_SALT, null, null, IMAGE, null] },
];

export const FAMILIES: readonly Family[] = [
  {
    name: "small prompts",
    forest: new PromptForest(2, 7, [7, 1, 3, 0], distinctHash),
    blocksMax: 10,
    stretchMax: 4,
    batchesMax: 25,
    aliases: false,
    problems: ["unknown-parent", "wrong-block-size", "block-limit"],
    runs: 10_000,
  },
  {
    name: "namespaces",
    forest: new PromptForest(2, 5, [5, 1], distinctHash, NAMESPACES),
    blocksMax: 14,
    stretchMax: 5,
    batchesMax: 20,
    aliases: false,
    problems: ["unknown-parent", "block-limit"],
    runs: 1500,
  },
  {
    name: "engine hashes that change their contents",
    forest: new PromptForest(1, 5, [5, 1, 3], scarceHash),
    blocksMax: 20,
    stretchMax: 3,
    batchesMax: 20,
    aliases: false,
    problems: ["unknown-parent"],
    runs: 2000,
  },
  {
    name: "contents under two engine hashes",
    forest: new PromptForest(1, 5, [5, 1, 3], distinctHash),
    blocksMax: 20,
    stretchMax: 3,
    batchesMax: 20,
    aliases: true,
    problems: ["unknown-parent"],
    runs: 2000,
  },
  {
    name: "engine hashes that crowd the end of a page",
    forest: new PromptForest(1, 300, [300, 20, 150, 1], crowdedHash),
    blocksMax: 500,
    stretchMax: 150,
    batchesMax: 12,
    aliases: false,
    problems: ["unknown-parent"],
    runs: 300,
  },
  {
    name: "thousands of blocks, so that pages split and merge",
    forest: new PromptForest(1, 4000, [4000, 500, 2000], distinctHash),
    blocksMax: 6000,
    stretchMax: 3000,
    batchesMax: 8,
    aliases: false,
    problems: ["unknown-parent"],
    runs: 100,
  },
];

export function batchPlans({ forest, stretchMax, batchesMax, aliases }: Family): fc.Arbitrary<BatchPlan[]> {
  const blocks = forest.prompts[0].length / forest.blockSize;
  const stretch = fc.record({
    prompt: fc.nat(forest.prompts.length - 1),
    namespace: fc.nat(forest.namespaces.length - 1),
    from: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(blocks - 1) }),
    count: fc.integer({ min: 1, max: stretchMax }),
  });
  const event: fc.Arbitrary<EventPlan> = fc.record({
    kind: weighted({ store: 50, "store-known": 15, remove: 30, clear: 4, "wrong-size": 1 }),
    stretch,
    tier: fc.constantFrom(...TIERS),
    disguised: aliases ? fc.boolean() : fc.constant(false),
  });
  const batch: fc.Arbitrary<BatchPlan> = fc.record({
    stream: fc.nat(3),
    kind: weighted({ changes: 60, "known-part": 20, state: 8, snapshot: 6, resume: 4, rejoin: 4, fail: 4, reopen: 2 }),
    events: fc.array(event, { maxLength: 5, size: "max" }),
  });
  return fc.array(batch, { maxLength: batchesMax, size: "max" });
}

function weighted<T extends string>(weights: Record<T, number>): fc.Arbitrary<T> {
  const options = Object.entries<number>(weights);
  return fc.oneof(...options.map(([value, weight]) => ({ weight, arbitrary: fc.constant(value as T) })));
}

/** Random sequences of batches for four streams, in families that each look for another kind of trouble. */

import fc from "fast-check";
import { TIERS, type Tier, type UnsynchronizedReason } from "#domain";
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
  /** "snapshot": the first half of the events is a state, the others are changes that follow it. */
  kind: "changes" | "state" | "snapshot" | "fail" | "reopen";
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
    kind: weighted({ changes: 80, state: 8, snapshot: 6, fail: 4, reopen: 2 }),
    events: fc.array(event, { maxLength: 5, size: "max" }),
  });
  return fc.array(batch, { maxLength: batchesMax, size: "max" });
}

function weighted<T extends string>(weights: Record<T, number>): fc.Arbitrary<T> {
  const options = Object.entries<number>(weights);
  return fc.oneof(...options.map(([value, weight]) => ({ weight, arbitrary: fc.constant(value as T) })));
}

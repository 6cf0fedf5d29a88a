/** How long clearing a large stream takes, and what queries notice of it meanwhile. */

import { Clearing } from "./clearing.ts";
import { CorpusIndex } from "./corpus-index.ts";
import { medianFigure, quantile } from "./figures.ts";
import { grouped } from "./grouped.ts";
import { PromptCorpus } from "./prompt-corpus.ts";
import { type Answer, atMost, defineGroup, type Figure, type Question, type Target } from "./question.ts";
import type { Scale } from "./scale.ts";

const BLOCK_SIZE = 128;

interface Fixture {
  index: CorpusIndex;
  clearing: Clearing;
  clears: number;
}

export const clear = defineGroup<Fixture>({ open, close: ({ clearing }) => clearing.end(), questions });

/** One of the streams is not the corpus's: the one that is cleared. */
async function open({ promptTokens, indexBlocks: blocks, streams, clearedBlocks, clears }: Scale): Promise<Fixture> {
  const corpus = new PromptCorpus({ blockSize: BLOCK_SIZE, promptTokens, blocks, streams: streams - 1, holders: 4 });
  const index = await CorpusIndex.create(corpus, 1);
  const order = { index: index.handle, corpus: corpus.options, stream: corpus.streams, blocks: clearedBlocks };
  return { index, clearing: new Clearing(order), clears };
}

function questions({ promptTokens, indexBlocks, clearedBlocks }: Scale): Question<Fixture>[] {
  const clearing = `clearing a stream of ${grouped(clearedBlocks)} blocks among ${grouped(indexBlocks)}`;
  return [
    {
      what: `${clearing}, while prompts of ${grouped(promptTokens)} tokens are matched`,
      measure: (fixture) => measureClears(fixture, promptTokens, { clear: atMost(50), p99: atMost(150) }),
    },
    // So short a match shows how long the lock is held.
    {
      what: `${clearing}, while one block is matched`,
      measure: (fixture) => measureClears(fixture, BLOCK_SIZE, { clear: atMost(50), p99: null }),
    },
  ];
}

interface ClearTargets {
  clear: Target;
  p99: Target | null;
}

async function measureClears(fixture: Fixture, tokenCount: number, targets: ClearTargets): Promise<Answer> {
  const { index, clearing, clears } = fixture;
  const { corpus, directory } = index;
  const clearMs: number[] = [];
  const matchUs: number[] = [];
  let prompt = 0;
  const matchNext = () => {
    prompt = (prompt + 1) % corpus.promptCount;
    corpus.writeTokens(prompt, directory.tokens, tokenCount);
    const startedAtMs = performance.now();
    directory.match(tokenCount, null, null);
    matchUs.push((performance.now() - startedAtMs) * 1000);
  };
  for (let n = 0; n < clears; n++) clearMs.push(await clearing.clear(matchNext));
  const figures: Figure[] = [
    medianFigure(clearMs, "ms", targets.clear),
    { label: "match p50", value: quantile(matchUs, 0.5), unit: "us", target: null },
    { label: "match p99", value: quantile(matchUs, 0.99), unit: "us", target: targets.p99 },
    { label: "longest match", value: quantile(matchUs, 1), unit: "us", target: null },
  ];
  return { figures, checksum: index.checkAnswers() };
}

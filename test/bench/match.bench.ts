/** What a query costs in the index: one prompt against all streams, alone and while another thread writes. */

import { CorpusIndex } from "./corpus-index.ts";
import { measureLatency } from "./figures.ts";
import { grouped } from "./grouped.ts";
import { IngestLoad, type Pace } from "./ingest-load.ts";
import { PromptCorpus } from "./prompt-corpus.ts";
import { type Answer, atMost, type BenchGroup, defineGroup, type Figure, type Question, type Target } from "./question.ts";
import type { Scale } from "./scale.ts";

/** Prompts follow each other at this distance: prime to their number, so that all get their turn and none is in the caches. */
const PROMPT_STRIDE = 7919;

/** Blocks a second of a large fleet: 128 engines that prefill 12,500 new tokens a second each, in blocks of 16. */
const STEADY_PACE = 100_000;

interface MatchTargets {
  p50: Target;
  p99?: Target;
}

export const matchOfLargeBlocks = matchGroup(128, { p50: atMost(60), p99: atMost(150) });
export const matchOfSmallBlocks = matchGroup(16, { p50: atMost(200) });

function matchGroup(blockSize: number, targets: MatchTargets): BenchGroup {
  return defineGroup<CorpusIndex>({
    open: ({ promptTokens, indexBlocks: blocks, streams }) =>
      CorpusIndex.create(new PromptCorpus({ blockSize, promptTokens, blocks, streams, holders: 4 })),
    close: async () => {},
    questions: (scale) => questions(scale, blockSize, targets),
  });
}

function questions(scale: Scale, blockSize: number, targets: MatchTargets): Question<CorpusIndex>[] {
  const { promptTokens, indexBlocks, streams, matchMs } = scale;
  const what = `match of ${grouped(promptTokens)} tokens in blocks of ${blockSize}, ${grouped(indexBlocks)} blocks, ${streams} streams`;
  const measure = (index: CorpusIndex) => measureMatches(index, matchMs, targets);
  return [
    { what, measure: async (index) => answer(index, await measure(index)) },
    {
      what: `${what}, while ingest runs at full speed`,
      measure: (index) => whileIngestRuns(index, "full-speed", () => measure(index)),
    },
    {
      what: `${what}, while ingest runs at ${grouped(STEADY_PACE)} blocks/s`,
      measure: (index) => whileIngestRuns(index, STEADY_PACE, () => measure(index)),
    },
  ];
}

/** A directory's match, from tokens in memory to an answer for each stream. */
function measureMatches({ corpus, directory }: CorpusIndex, spentMs: number, targets: MatchTargets): Promise<Figure[]> {
  let prompt = 0;
  const prepare = () => {
    prompt = (prompt + PROMPT_STRIDE) % corpus.promptCount;
    corpus.writeTokens(prompt, directory.tokens);
    return corpus.promptTokens;
  };
  return measureLatency(prepare, (tokenCount) => directory.match(tokenCount, null, null), spentMs, targets);
}

async function whileIngestRuns(index: CorpusIndex, pace: Pace, measure: () => Promise<Figure[]>): Promise<Answer> {
  const { handle, corpus } = index;
  const load = await IngestLoad.start({ index: handle, corpus: corpus.options, pace });
  const figures = await measure();
  const rate = await load.stop();
  return answer(index, [...figures, { label: "ingest meanwhile", value: rate, unit: "blocks/s", target: null }]);
}

function answer(index: CorpusIndex, figures: Figure[]): Answer {
  return { figures, checksum: index.checkAnswers() };
}

/** What the index costs in memory, asked of a fresh process: only there is the growth of a process that of the index. */

import { runProcess } from "./child-process.ts";
import { grouped } from "./grouped.ts";
import type { MemoryReport } from "./memory.process.ts";
import type { PromptCorpusOptions } from "./prompt-corpus.ts";
import { type Answer, atMost, defineGroup, type Unit } from "./question.ts";
import type { Scale } from "./scale.ts";

const BLOCK_SIZE = 128;
const WANTED = atMost(200);

export const memory = defineGroup<Scale>({
  open: async (scale) => scale,
  close: async () => {},
  questions: ({ indexBlocks, streams }) => [
    {
      what: `memory per block of ${grouped(indexBlocks)}, each held by one of ${streams} streams`,
      measure: measureMemory,
    },
  ],
});

async function measureMemory({ promptTokens, indexBlocks, streams }: Scale): Promise<Answer> {
  const corpus: PromptCorpusOptions = { blockSize: BLOCK_SIZE, promptTokens, blocks: indexBlocks, streams, holders: 1 };
  const report = await runProcess<MemoryReport>(new URL("./memory.process.ts", import.meta.url), corpus);
  const perBlock = (bytes: number) => ({ value: bytes / indexBlocks, unit: "bytes" as Unit, target: WANTED });
  return {
    figures: [
      { label: "tables", ...perBlock(report.tableBytes) },
      { label: "growth of process", ...perBlock(report.processBytes) },
    ],
    checksum: report.checksum,
  };
}

/** A process that fills one index and tells how it grew. */

import { giveResult, takeOrder } from "./child-process.ts";
import { CorpusIndex } from "./corpus-index.ts";
import { PromptCorpus, type PromptCorpusOptions } from "./prompt-corpus.ts";

export interface MemoryReport {
  /** Pages of the index's tables. */
  tableBytes: number;
  /** Resident memory, with the index's fixed area. */
  processBytes: number;
  checksum: string;
}

const options = await takeOrder<PromptCorpusOptions>();

// An index of one prompt first, and kept: what code and runtime take is no part of the growth.
const small = await CorpusIndex.create(new PromptCorpus({ ...options, blocks: options.promptTokens / options.blockSize }));
Bun.gc(true);
const before = process.memoryUsage.rss();
const full = await CorpusIndex.create(new PromptCorpus(options));
Bun.gc(true);
const processBytes = process.memoryUsage.rss() - before;
const checksum = small.checkAnswers() + full.checkAnswers();
giveResult<MemoryReport>({ tableBytes: full.writer.bytesInUse, processBytes, checksum });

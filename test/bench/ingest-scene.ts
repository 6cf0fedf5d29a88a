/** A full index and an engine script: batches go in at full speed, pass after pass, and the index is as full as before after each. */

import { assert } from "#base";
import type { StreamIndex } from "#stream";
import { Checksum } from "./checksum.ts";
import { CorpusIndex } from "./corpus-index.ts";
import { BLOCKS_PER_PROMPT, EngineScript, EVENTS_PER_PROMPT, type ScriptedBatch } from "./engine-script.ts";
import { medianFigure } from "./figures.ts";
import { PromptCorpus } from "./prompt-corpus.ts";
import type { Answer, Target } from "./question.ts";
import type { Scale } from "./scale.ts";

/** What a pass does with a number of prompts that were never in the index before. */
export interface Pass {
  /** Untimed, before. */
  prepare(firstPrompt: number, prompts: number): void;
  run(): void;
  /** Untimed, after: takes away what is left of the prompts. */
  undo(firstPrompt: number, prompts: number): void;
}

export class IngestScene {
  readonly index: CorpusIndex;
  readonly script: EngineScript;
  readonly #streams: StreamIndex[];
  readonly #passes: number;
  readonly #promptsPerPass: number;
  #nextPrompt = 0;
  #batchSeq: number;

  private constructor(index: CorpusIndex, { ingestBlocks, ingestPasses }: Scale) {
    const { blockSize, streams, promptCount } = index.corpus;
    this.index = index;
    this.script = new EngineScript({ streams, blockSize });
    this.#streams = index.writer.streamIndexes();
    this.#passes = ingestPasses;
    this.#promptsPerPass = ingestBlocks / BLOCKS_PER_PROMPT;
    this.#batchSeq = promptCount;
  }

  static async open(scale: Scale, blockSize: number): Promise<IngestScene> {
    const { promptTokens, indexBlocks: blocks, streams } = scale;
    return new IngestScene(
      await CorpusIndex.create(new PromptCorpus({ blockSize, promptTokens, blocks, streams, holders: 4 })),
      scale,
    );
  }

  /** Blocks per second of the median pass; the checksum is of what the streams hold right after each run. */
  measure({ prepare, run, undo }: Pass, target: Target | null = null): Answer {
    const checksum = new Checksum();
    const rates: number[] = [];
    const prompts = this.#promptsPerPass;
    for (let pass = 0; pass < this.#passes; pass++) {
      const first = this.#nextPrompt;
      prepare(first, prompts);
      Bun.gc(true);
      const startedAtMs = performance.now();
      run();
      rates.push((prompts * BLOCKS_PER_PROMPT * 1000) / (performance.now() - startedAtMs));
      checksum.add(...this.index.deviceBlocks());
      undo(first, prompts);
      this.#nextPrompt += prompts;
    }
    return { figures: [medianFigure(rates, "blocks/s", target)], checksum: checksum.toString() };
  }

  /** Decodes and applies as the ingest thread does. */
  ingest(batches: readonly ScriptedBatch[]): void {
    for (const { stream, payload } of batches) {
      assert(this.#streams[stream].apply(this.nextBatchSeq(), payload) === null, "a scripted batch is applied");
    }
  }

  remove(firstPrompt: number, prompts: number): void {
    this.ingest(this.script.removals(firstPrompt, prompts, EVENTS_PER_PROMPT));
  }

  nextBatchSeq(): number {
    this.#batchSeq += 1;
    return this.#batchSeq;
  }
}

/** An index that holds a prompt corpus: its directory, and its writer as long as no other thread takes over. */

import { assert } from "#base";
import type { StreamMatch } from "#domain";
import { createIndex, type IndexHandle, KvDirectory } from "#index";
import { Checksum } from "./checksum.ts";
import { CorpusWriter, describeStream } from "./corpus-writer.ts";
import type { PromptCorpus } from "./prompt-corpus.ts";

/** The default of max_blocks_per_stream. */
const BLOCKS_PER_STREAM_MAX = 262_144;

/** Prompts whose answers make a checksum. */
const CHECKED_PROMPTS = 16;

export class CorpusIndex {
  readonly corpus: PromptCorpus;
  readonly handle: IndexHandle;
  readonly directory: KvDirectory;
  readonly writer: CorpusWriter;

  private constructor(corpus: PromptCorpus, handle: IndexHandle) {
    this.corpus = corpus;
    this.handle = handle;
    this.directory = new KvDirectory(handle);
    this.writer = new CorpusWriter(corpus, handle);
  }

  /** All streams are synchronized: the corpus's hold its prompts, `spareStreams` more, of the next ids, hold nothing. */
  static async create(corpus: PromptCorpus, spareStreams = 0): Promise<CorpusIndex> {
    const maxStreams = corpus.streams + spareStreams;
    const index = new CorpusIndex(corpus, await createIndex({ maxStreams, maxBlocksPerStream: BLOCKS_PER_STREAM_MAX }));
    for (let id = 0; id < maxStreams; id++) {
      index.writer.openStream(id);
      index.directory.addStream(id, describeStream(id, corpus.blockSize));
    }
    for (let prompt = 0; prompt < corpus.promptCount; prompt++) {
      for (const holding of corpus.holdings(prompt)) index.writer.store(prompt, holding);
    }
    return index;
  }

  /** Blocks on the device, by stream. */
  deviceBlocks(): number[] {
    return this.#match(0).map(({ deviceBlocks }) => deviceBlocks);
  }

  /** Digest of the answers for the first prompts, each of which must be what the corpus says. */
  checkAnswers(): string {
    const checksum = new Checksum();
    for (let prompt = 0; prompt < Math.min(CHECKED_PROMPTS, this.corpus.promptCount); prompt++) {
      this.corpus.writeTokens(prompt, this.directory.tokens);
      const matches = this.#match(this.corpus.promptTokens);
      this.#checkHits(prompt, matches);
      for (const { deviceHitBlocks, hostOnlyHitBlocks } of matches) checksum.add(deviceHitBlocks, hostOnlyHitBlocks);
    }
    return checksum.toString();
  }

  #match(tokenCount: number): StreamMatch[] {
    const matches = this.directory.match(tokenCount, null, null);
    assert(matches !== "busy", "the index is free in time");
    return matches;
  }

  #checkHits(prompt: number, matches: StreamMatch[]): void {
    for (const { stream, blocks } of this.corpus.holdings(prompt)) {
      const { deviceHitBlocks, hostOnlyHitBlocks } = matches[stream];
      assert(deviceHitBlocks + hostOnlyHitBlocks === blocks, `stream ${stream} holds ${blocks} blocks of prompt ${prompt}`);
    }
  }
}

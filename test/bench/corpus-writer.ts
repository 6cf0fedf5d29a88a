/** The writing side of an index that holds a prompt corpus; an index has one writer at a time, in whichever thread. */

import { assert } from "#base";
import { type KvEventSink, SKIP_REASONS, type StreamDescription, unsynchronized } from "#domain";
import { type IndexHandle, KvIndexWriter, type WrittenStream } from "#index";
import { StreamIndex } from "#stream";
import { XllmDialect } from "#wire";
import type { Holding, PromptCorpus } from "./prompt-corpus.ts";

/** xLLM's default, which is Warmpath's. */
const HASH_SEED = 1024;

export class CorpusWriter {
  readonly #corpus: PromptCorpus;
  readonly #writer: KvIndexWriter;
  readonly #tokens: Uint32Array;
  readonly #skipped = new Uint32Array(SKIP_REASONS.length);

  constructor(corpus: PromptCorpus, handle: IndexHandle) {
    this.#corpus = corpus;
    this.#writer = new KvIndexWriter(handle);
    this.#tokens = new Uint32Array(corpus.promptTokens);
  }

  /** Bytes that the index's tables take. */
  get bytesInUse(): number {
    return this.#writer.bytesInUse;
  }

  /** A new stream, synchronized and empty. */
  openStream(id: number): void {
    this.#writer.openStream(this.#written(id), unsynchronized("not-connected"));
    this.#writer.begin(this.#written(id), "state", 0, this.#skipped);
    this.#commit(0);
  }

  /** The holding's stream comes to have its share of the prompt. */
  store(prompt: number, holding: Holding): void {
    this.#corpus.writeTokens(prompt, this.#tokens);
    const event = this.#corpus.announce(prompt, holding, this.#tokens);
    this.apply(holding.stream, prompt + 1, (sink) => sink.blockStored(event));
  }

  /** One batch of the events that `tell` gives. */
  apply(stream: number, batchSeq: number, tell: (sink: KvEventSink) => void): void {
    this.#writer.begin(this.#written(stream), "changes", batchSeq, this.#skipped);
    tell(this.#writer);
    this.#commit(batchSeq);
  }

  /** The corpus's streams, by id, as the ingest thread has them: they take batches that are encoded. */
  streamIndexes(): StreamIndex[] {
    const dialect = new XllmDialect();
    const { streams, blockSize } = this.#corpus;
    return Array.from({ length: streams }, (_, id) => new StreamIndex(id, describeStream(id, blockSize), this.#writer, dialect));
  }

  #commit(batchSeq: number): void {
    const problem = this.#writer.problem ?? this.#writer.commit(batchSeq, "full");
    assert(problem === null, `the index takes the batch, but for ${problem?.reason}`);
  }

  #written(id: number): WrittenStream {
    return { id, blockSize: this.#corpus.blockSize, hashSeed: HASH_SEED, counted: false, strict: true };
  }
}

/** Stream `id` of a corpus; nothing listens at its endpoints. */
export function describeStream(id: number, blockSize: number): StreamDescription {
  return {
    instanceName: `engine-${id}:8000`,
    dpRank: 0,
    engine: "xllm",
    blockSize,
    hashSeed: HASH_SEED,
    endpoint: `tcp://engine-${id}:18000`,
    replayEndpoint: `tcp://engine-${id}:38000`,
    topic: "",
    curveServerKey: null,
    incarnation: "",
  };
}

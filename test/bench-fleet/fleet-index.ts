/** Warmpath's index of a simulated fleet: the engines' caches as Warmpath knows them, a stream for each instance. */

import { assert } from "#base";
import { type BlockStored, SKIP_REASONS, type StreamDescription, type StreamMatch, unsynchronized } from "#domain";
import { createIndex, KvDirectory, KvIndexWriter, type WrittenStream } from "#index";
import type { CacheChange } from "./engine-cache.ts";
import { DEVICE_BLOCKS, HOST_BLOCKS } from "./engine-model.ts";
import { mix, writeBlockTokens, writePromptTokens } from "./prompt-tokens.ts";
import { BLOCK_TOKENS, type TracedBlock, type TracedRequest } from "./trace.ts";

/** xLLM's default, which is Warmpath's. */
const HASH_SEED = 1024;

/** The incarnation of every simulated engine: none ever restarts. */
export const INCARNATION = "simulated";

/** Blocks told in one event: those of the longest prompts. */
const EVENT_BLOCKS_MAX = 512;

const NO_TOKENS = new Uint32Array(0);

export class FleetIndex {
  readonly #blocks: readonly TracedBlock[];
  readonly #directory: KvDirectory;
  readonly #writer: KvIndexWriter;
  readonly #batchSeqs: number[];
  readonly #tokens = new Uint32Array(EVENT_BLOCKS_MAX * BLOCK_TOKENS);
  readonly #skipped = new Uint32Array(SKIP_REASONS.length);

  private constructor(blocks: readonly TracedBlock[], names: readonly string[], directory: KvDirectory, writer: KvIndexWriter) {
    this.#blocks = blocks;
    this.#directory = directory;
    this.#writer = writer;
    this.#batchSeqs = names.map(() => 0);
    for (const [id, name] of names.entries()) {
      this.#writer.openStream(written(id), unsynchronized("not-connected"));
      this.#writer.begin(written(id), "state", 0, this.#skipped);
      this.#commit(0);
      this.#directory.addStream(id, describeStream(name));
    }
  }

  /** All streams are synchronized and empty; `blocks` are those of the trace. */
  static async create(blocks: readonly TracedBlock[], instanceNames: readonly string[]): Promise<FleetIndex> {
    const limits = { maxStreams: instanceNames.length, maxBlocksPerStream: DEVICE_BLOCKS + HOST_BLOCKS + EVENT_BLOCKS_MAX };
    const handle = await createIndex(limits);
    return new FleetIndex(blocks, instanceNames, new KvDirectory(handle), new KvIndexWriter(handle));
  }

  /** One batch of an instance's events. */
  apply(instance: number, changes: readonly CacheChange[]): void {
    this.#batchSeqs[instance] += 1;
    this.#writer.begin(written(instance), "changes", this.#batchSeqs[instance], this.#skipped);
    for (const change of changes) {
      if (change.kind === "removed") this.#remove(change);
      else if (change.tier === "host") this.#offload(change);
      else this.#store(change);
    }
    this.#commit(this.#batchSeqs[instance]);
  }

  /** What each instance holds of the prompt, and the prompt's tokens, both until the next call. */
  match(request: TracedRequest): { tokens: Uint32Array; matches: StreamMatch[] } {
    const { tokens } = this.#directory;
    writePromptTokens(request, tokens);
    const matches = this.#directory.match(request.inputTokens, null, null);
    assert(matches !== "busy", "nobody else uses the index");
    return { tokens: tokens.subarray(0, request.inputTokens), matches };
  }

  #remove({ blocks, tier }: CacheChange): void {
    this.#writer.blockRemoved({ hashLanes: hashLanes(blocks), hashCount: blocks.length, tier });
  }

  /** Blocks that the stream knows from the device are told without their tokens. */
  #offload({ blocks, tier }: CacheChange): void {
    const root = { hasParent: false, parentLow: 0, parentHigh: 0 };
    const event = { ...root, hashLanes: hashLanes(blocks), hashCount: blocks.length, namespace: null, tier };
    this.#writer.blockStored({ ...event, tokens: NO_TOKENS, tokenCount: 0, blockSize: 0 });
  }

  /** An event for each run of blocks that follow each other. */
  #store({ blocks }: CacheChange): void {
    for (let start = 0; start < blocks.length; ) {
      let end = start + 1;
      while (end < blocks.length && this.#blocks[blocks[end]].parent === blocks[end - 1]) end++;
      this.#writer.blockStored(this.#storedRun(blocks.slice(start, end)));
      start = end;
    }
  }

  #storedRun(run: readonly number[]): BlockStored {
    run.forEach((block, place) => {
      const start = place * BLOCK_TOKENS;
      writeBlockTokens(this.#blocks[block].hashId, this.#tokens, start, start + BLOCK_TOKENS);
    });
    const { parent } = this.#blocks[run[0]];
    const [parentLow, parentHigh] = parent === null ? [0, 0] : hashLanes([parent]);
    return {
      hashLanes: hashLanes(run),
      hashCount: run.length,
      hasParent: parent !== null,
      parentLow,
      parentHigh,
      tokens: this.#tokens,
      tokenCount: run.length * BLOCK_TOKENS,
      blockSize: BLOCK_TOKENS,
      tier: "device",
      namespace: null,
    };
  }

  #commit(batchSeq: number): void {
    const problem = this.#writer.problem ?? this.#writer.commit(batchSeq, "full");
    assert(problem === null, `the index takes the batch, but for ${problem?.reason}`);
  }
}

/** The engine's hash of a block: its number, spread over both lanes. */
function hashLanes(blocks: readonly number[]): Uint32Array {
  const lanes = new Uint32Array(2 * blocks.length);
  for (let place = 0; place < blocks.length; place++) {
    lanes[2 * place] = mix(blocks[place]);
    lanes[2 * place + 1] = mix(~blocks[place]);
  }
  return lanes;
}

function written(id: number): WrittenStream {
  return { id, blockSize: BLOCK_TOKENS, hashSeed: HASH_SEED, counted: false, strict: true };
}

function describeStream(instanceName: string): StreamDescription {
  return {
    instanceName,
    dpRank: 0,
    engine: "xllm",
    blockSize: BLOCK_TOKENS,
    hashSeed: HASH_SEED,
    endpoint: `tcp://${instanceName}`,
    replayEndpoint: null,
    topic: "",
    curveServerKey: null,
    incarnation: INCARNATION,
  };
}

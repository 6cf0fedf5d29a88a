/** How large a run is: `FULL_SCALE` is what the targets speak of, `SMALL_SCALE` keeps the benchmarks alive within the tests. */

export interface Scale {
  /** Tokens of a prompt that is matched or asked about. */
  promptTokens: number;
  /** Distinct blocks that the index holds before anything is measured. */
  indexBlocks: number;
  /** Streams that hold them. */
  streams: number;
  /** Time spent inside matches, by row. */
  matchMs: number;
  /** Blocks of one pass of ingest, and passes; a row tells the median pass. */
  ingestBlocks: number;
  ingestPasses: number;
  /** Blocks of the stream that is cleared, and how often it is. */
  clearedBlocks: number;
  clears: number;
  /** Duration of one HTTP row. */
  httpMs: number;
  /** Processes started in turn. */
  starts: number;
  /** Engines that come and go in turn. */
  fleetChanges: number;
  /** Instances in the registry, and how often all of them are looked at again. */
  registeredInstances: number;
  fleetRefreshes: number;
}

export const FULL_SCALE: Scale = {
  promptTokens: 32_768,
  indexBlocks: 1_048_576,
  streams: 128,
  matchMs: 500,
  ingestBlocks: 262_144,
  ingestPasses: 7,
  clearedBlocks: 262_144,
  clears: 5,
  httpMs: 3000,
  starts: 7,
  fleetChanges: 30,
  registeredInstances: 1000,
  fleetRefreshes: 30,
};

export const SMALL_SCALE: Scale = {
  promptTokens: 4096,
  indexBlocks: 4096,
  streams: 8,
  matchMs: 5,
  ingestBlocks: 4096,
  ingestPasses: 2,
  clearedBlocks: 4096,
  clears: 2,
  httpMs: 100,
  starts: 1,
  fleetChanges: 1,
  registeredInstances: 20,
  fleetRefreshes: 2,
};

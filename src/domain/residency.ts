/** What the directory answers about one stream. Counts are in blocks; the caller knows the block size. */

import type { StreamDescription } from "./stream.ts";
import type { Unsynchronized } from "./unsynchronized.ts";

export type Coverage = "full" | "partial";

export interface StreamMatch {
  stream: StreamDescription;
  /** Null while the stream is synchronized. */
  unsynchronized: Unsynchronized | null;
  /** Partial: blocks stored before the stream was joined, or that could not be read, are unknown; never is one claimed wrongly. */
  coverage: Coverage;
  /** The last batch that the index holds. */
  batchSeq: number;
  /** Blocks of the prompt's contiguous prefix by the fastest tier that holds each; all 0 while unsynchronized. */
  deviceHitBlocks: number;
  hostOnlyHitBlocks: number;
  diskOnlyHitBlocks: number;
  /** Blocks resident per tier; replicas overlap. */
  deviceBlocks: number;
  hostBlocks: number;
  diskBlocks: number;
}

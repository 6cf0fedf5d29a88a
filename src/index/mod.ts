/**
 * The live directory's data: content keys, the block table, and what each stream holds. A flat piece of shared memory that
 * the ingest thread writes and the main thread reads. README.md has the memory map and the rules of consistency.
 */

export type { BatchKind } from "./batch-notes.ts";
export { KvDirectory } from "./directory.ts";
export { createIndex, type IndexFigures, type IndexHandle, type IndexLimits, STREAMS_MAX, worstCaseBytes } from "./memory.ts";
export { KvIndexReader } from "./reader.ts";
export { KvIndexWriter, type WrittenStream } from "./writer.ts";

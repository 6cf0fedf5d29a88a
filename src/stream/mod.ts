/**
 * Streams: one per engine rank, each a state machine that subscribes, recovers a snapshot, follows the live batches and says
 * why when it cannot. They run in the ingest thread; the supervisor runs that thread. README.md has the state table.
 */

export { EventStream, type EventStreamLimits } from "./event-stream.ts";
export type { StreamSockets } from "./sockets.ts";
export type { StreamState } from "./state.ts";
export { type HeldBatch, StreamIndex } from "./stream-index.ts";
export { IngestSupervisor, type IngestSupervisorOptions } from "./supervisor.ts";

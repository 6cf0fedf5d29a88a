/**
 * Loaded into the service before its sources, for a soak alone: collects garbage when it is asked over the process's channel, and
 * answers with what is left on the main thread's heap.
 */

import { heapStats } from "bun:jsc";

export interface HeapCount {
  bytes: number;
  objects: number;
  timers: number;
  promises: number;
}

process.on("message", () => {
  // What one collection finalizes, the next frees.
  Bun.gc(true);
  Bun.gc(true);
  const { heapSize, objectCount, objectTypeCounts } = heapStats();
  const count: HeapCount = {
    bytes: heapSize,
    objects: objectCount,
    timers: objectTypeCounts.Timeout ?? 0,
    promises: objectTypeCounts.Promise ?? 0,
  };
  process.send?.(count);
});

// Whoever started it is gone.
process.on("disconnect", () => process.exit(1));

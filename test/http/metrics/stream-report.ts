/** A stream's report in which nothing is zero, so that every metric has a sample. */

import type { StreamDescription, StreamReport } from "#domain";

export function streamReport(stream: StreamDescription, changes: Partial<StreamReport> = {}): StreamReport {
  return {
    stream,
    batches: 12,
    events: { stored: 40, removed: 20, cleared: 1 },
    skippedEvents: { "sparse-group": 4 },
    drops: { "repeated-batch": 2 },
    trailingBytes: 7,
    recoveriesAsked: 3,
    recoveriesAnswered: 1,
    recoveries: [{ kind: "snapshot", outcome: "failed", count: 2 }],
    problems: { gap: 5 },
    unsynchronizedMs: 2500,
    lagMs: 12.5,
    ...changes,
  };
}

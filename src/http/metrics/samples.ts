/** From what the directory and the streams tell to samples of the catalogue's metrics. */

import { type StreamReport, TIERS } from "#domain";
import { METRICS, type Metric, type Sample } from "#metrics";
import type { KvDirectory, Readiness } from "../dependencies.ts";

/** What can be read without asking the ingest thread. A busy index leaves the streams out. */
export function directorySamples(directory: KvDirectory, readiness: Readiness): Sample[] {
  const samples: Sample[] = [
    { metric: METRICS.ready, labels: [], value: Number(readiness.notReady() === null) },
    { metric: METRICS.indexBytes, labels: [], value: directory.bytesInUse },
  ];
  const matches = directory.match(0, null, null);
  for (const match of matches === "busy" ? [] : matches) {
    const labels = [match.stream.instanceName, match.stream.dpRank];
    const blocks = { device: match.deviceBlocks, host: match.hostBlocks, disk: match.diskBlocks };
    samples.push(
      { metric: METRICS.streamSynchronized, labels, value: Number(match.unsynchronized === null) },
      { metric: METRICS.streamCoverageFull, labels, value: Number(match.coverage === "full") },
      { metric: METRICS.streamBatchSeq, labels, value: match.batchSeq },
      ...TIERS.map((tier) => ({ metric: METRICS.streamBlocks, labels: [...labels, tier], value: blocks[tier] })),
    );
  }
  return samples;
}

export function reportSamples(reports: readonly StreamReport[]): Sample[] {
  return reports.flatMap((report) => {
    const labels = [report.stream.instanceName, report.stream.dpRank];
    const byReason = (metric: Metric, counts: Partial<Record<string, number>>): Sample[] =>
      Object.entries(counts).map(([reason, value = 0]) => ({ metric, labels: [...labels, reason], value }));
    return [
      ...byReason(METRICS.skippedEvents, report.skippedEvents),
      ...byReason(METRICS.drops, report.drops),
      { metric: METRICS.trailingBytes, labels, value: report.trailingBytes },
      { metric: METRICS.recoveriesAsked, labels, value: report.recoveriesAsked },
      { metric: METRICS.recoveriesAnswered, labels, value: report.recoveriesAnswered },
    ];
  });
}

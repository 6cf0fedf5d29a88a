/** Each stream's state, by the index, and what it has gone through, by the thread that runs it, as metrics. */

import { type StreamDescription, type StreamMatch, type StreamReport, TIERS } from "#domain";
import { METRICS, type Metric, type MetricsRegistry, type Reading } from "#metrics";
import type { AppDependencies } from "../dependencies.ts";
import { blocksOn } from "./tier-blocks.ts";

/** What is known of the streams when someone asks. One that just came or goes may be in one of them only. */
export interface StreamsAtScrape {
  /** Of an empty prompt; nothing while the index is busy. */
  matches: readonly StreamMatch[];
  /** Nothing while the ingest thread does not answer. */
  reports: readonly StreamReport[];
}

type StreamLabel = "instance_name" | "rank";

export function registerStreamMetrics(
  metrics: MetricsRegistry,
  { ingestCrashes }: Pick<AppDependencies, "ingestCrashes">,
  streams: () => StreamsAtScrape,
): void {
  const labels = new StreamLabels();
  const ofMatch = (metric: Metric<StreamLabel>, measure: (match: StreamMatch) => number) =>
    metrics.read(metric, () => streams().matches.map((match) => ({ labels: labels.of(match.stream), value: measure(match) })));
  const ofReport = (metric: Metric<StreamLabel>, measure: (report: StreamReport) => number) =>
    metrics.read(metric, () => streams().reports.map((report) => ({ labels: labels.of(report.stream), value: measure(report) })));
  const byWord = <Label extends "reason" | "type">(
    metric: Metric<StreamLabel | Label>,
    label: Label,
    countsOf: (report: StreamReport) => Partial<Record<string, number>>,
  ) =>
    metrics.read(metric, () =>
      streams().reports.flatMap((report) =>
        Object.entries(countsOf(report)).map(([word, value = 0]) => {
          const labelled = { ...labels.of(report.stream), [label]: word };
          return { labels: labelled as Reading<StreamLabel | Label>["labels"], value };
        }),
      ),
    );

  ofMatch(METRICS.streamSynchronized, ({ unsynchronized }) => Number(unsynchronized === null));
  ofMatch(METRICS.streamCoverageFull, ({ coverage }) => Number(coverage === "full"));
  ofMatch(METRICS.streamBatchSeq, ({ batchSeq }) => batchSeq);
  metrics.read(METRICS.streamBlocks, () =>
    streams().matches.flatMap((match) =>
      TIERS.map((tier) => ({ labels: { ...labels.of(match.stream), tier }, value: blocksOn(match, tier) })),
    ),
  );
  metrics.read(METRICS.streamLag, () =>
    streams().reports.flatMap(({ stream, lagMs }) =>
      lagMs === null ? [] : [{ labels: labels.of(stream), value: lagMs / 1000 }],
    ),
  );
  ofReport(METRICS.streamBatches, ({ batches }) => batches);
  byWord(METRICS.streamEvents, "type", ({ events }) => events);
  byWord(METRICS.skippedEvents, "reason", ({ skippedEvents }) => skippedEvents);
  byWord(METRICS.drops, "reason", ({ drops }) => drops);
  ofReport(METRICS.trailingBytes, ({ trailingBytes }) => trailingBytes);
  byWord(METRICS.streamProblems, "reason", ({ problems }) => problems);
  ofReport(METRICS.unsynchronizedSeconds, ({ unsynchronizedMs }) => unsynchronizedMs / 1000);
  ofReport(METRICS.recoveriesAsked, ({ recoveriesAsked }) => recoveriesAsked);
  ofReport(METRICS.recoveriesAnswered, ({ recoveriesAnswered }) => recoveriesAnswered);
  metrics.read(METRICS.recoveries, () =>
    streams().reports.flatMap(({ stream, recoveries }) =>
      recoveries.map(({ kind, outcome, count }) => ({
        labels: { ...labels.of(stream), kind, outcome },
        value: count,
      })),
    ),
  );
  metrics.readOne(METRICS.ingestCrashes, ingestCrashes);
}

/** A stream's labels, one object for all of its samples. */
class StreamLabels {
  readonly #made = new WeakMap<StreamDescription, Reading<StreamLabel>["labels"]>();

  of(stream: StreamDescription): Reading<StreamLabel>["labels"] {
    const known = this.#made.get(stream);
    if (known !== undefined) return known;
    const made = { instance_name: stream.instanceName, rank: stream.dpRank };
    this.#made.set(stream, made);
    return made;
  }
}

/** Every metric: its name, kind, labels and meaning. The exposition and the README's table come from here. */

export interface Metric {
  name: string;
  kind: "gauge" | "counter";
  labels: readonly string[];
  help: string;
}

const STREAM = ["instance", "rank"] as const;

export const METRICS = {
  streamSynchronized: gauge("warmpath_stream_synchronized", STREAM, "1 while the stream is synchronized, else 0"),
  streamCoverageFull: gauge("warmpath_stream_coverage_full", STREAM, "1 while no block of the stream is unknown, else 0"),
  streamBatchSeq: gauge("warmpath_stream_batch_sequence", STREAM, "The last batch that the index includes"),
  streamBlocks: gauge("warmpath_stream_blocks", [...STREAM, "tier"], "Blocks resident on the tier; replicas overlap"),
  skippedEvents: counter("warmpath_stream_skipped_events_total", [...STREAM, "reason"], "Events left out of a batch"),
  drops: counter("warmpath_stream_dropped_messages_total", [...STREAM, "reason"], "Live messages and checks not used"),
  trailingBytes: counter("warmpath_stream_trailing_bytes_total", STREAM, "Bytes after the end of batches"),
  recoveriesAsked: counter("warmpath_stream_recoveries_asked_total", STREAM, "Snapshots and replays asked for"),
  recoveriesAnswered: counter("warmpath_stream_recoveries_answered_total", STREAM, "Snapshots and replays answered to the end"),
  indexBytes: gauge("warmpath_index_bytes", [], "Memory that the tables of the index take"),
  ready: gauge("warmpath_ready", [], "1 while queries can be answered, else 0"),
} as const satisfies Record<string, Metric>;

function gauge(name: string, labels: readonly string[], help: string): Metric {
  return { name, kind: "gauge", labels, help };
}

function counter(name: string, labels: readonly string[], help: string): Metric {
  return { name, kind: "counter", labels, help };
}

/** The metrics as the README's Markdown table; ends with a newline. */
export function metricsTable(): string {
  const rows = Object.values<Metric>(METRICS).map(
    ({ name, kind, labels, help }) => `| \`${name}\` | ${kind} | ${labels.join(", ")} | ${help} |\n`,
  );
  return `| Metric | Kind | Labels | Meaning |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

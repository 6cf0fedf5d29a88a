/** A client's counters as Prometheus text, under the names that AIBrix's dashboards know. */

import { type ClientCounters, ERROR_TYPES, EVENT_TYPES } from "./client-counters.ts";

const PREFIX = "aibrix_kvcache_zmq_";

type Sample = { labels?: Record<string, string>; suffix?: string; value: number };

/** Text exposition format 0.0.4, one block a metric, all with label `pod_key`. */
export function formatMetrics(counters: ClientCounters, podKey: string): string {
  const metric = (type: "counter" | "gauge" | "histogram", name: string, help: string, samples: readonly Sample[]) => {
    const lines = samples.map(
      ({ labels = {}, suffix = "", value }) =>
        `${PREFIX}${name}${suffix}${formatLabels({ pod_key: podKey, ...labels })} ${value}`,
    );
    return `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} ${type}\n${lines.join("\n")}\n`;
  };
  const counter = (name: string, help: string, value: number) => metric("counter", name, help, [{ value }]);
  const { processing } = counters;
  return [
    counter("connections_total", "Connections made to the publisher.", counters.connections),
    counter("disconnections_total", "Connections lost.", counters.disconnections),
    counter("reconnect_attempts_total", "Times it was set out to connect again.", counters.reconnectAttempts),
    metric(
      "counter",
      "events_received_total",
      "Events received.",
      EVENT_TYPES.map((type) => ({ labels: { event_type: type }, value: counters.eventsReceived[type] })),
    ),
    metric(
      "counter",
      "events_processed_total",
      "Events that the handler has taken.",
      EVENT_TYPES.map((type) => ({ labels: { event_type: type }, value: counters.eventsProcessed[type] })),
    ),
    metric("histogram", "event_processing_duration_seconds", "Time that the handler takes for a batch.", [
      ...processing.buckets.map(({ boundS, count }) => ({ labels: { le: String(boundS) }, suffix: "_bucket", value: count })),
      { labels: { le: "+Inf" }, suffix: "_bucket", value: processing.count },
      { suffix: "_sum", value: processing.sumS },
      { suffix: "_count", value: processing.count },
    ]),
    counter("missed_events_total", "Batches that were missed and could not be replayed.", counters.missedBatches),
    counter("replay_requests_total", "Replays asked for.", counters.replaysAsked),
    counter("replay_success_total", "Replays answered to the end.", counters.replaysAnswered),
    counter("replay_failures_total", "Replays that failed.", counters.replaysFailed),
    metric(
      "counter",
      "errors_total",
      "Errors by type.",
      ERROR_TYPES.map((type) => ({ labels: { error_type: type }, value: counters.errors[type] })),
    ),
    metric("gauge", "connection_status", "1 while connected, else 0.", [{ value: counters.isConnected ? 1 : 0 }]),
    metric("gauge", "last_sequence_id", "Batch sequence of the last batch, -1 before the first.", [
      { value: counters.lastBatchSeq ?? -1 },
    ]),
  ].join("");
}

function formatLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

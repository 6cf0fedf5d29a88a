import { describe, expect, test } from "bun:test";
import { ClientCounters } from "../../src/client/lib/client-counters.ts";
import { formatMetrics } from "../../src/client/lib/client-metrics.ts";
import type { ClientReport } from "../../src/client/lib/client-protocol.ts";

const PREFIX = "aibrix_kvcache_zmq_";

function linesAfter(reports: readonly ClientReport[], podKey = "p"): string[] {
  const counters = new ClientCounters();
  for (const report of reports) counters.report(report);
  return formatMetrics(counters, podKey).split("\n");
}

describe("formatMetrics", () => {
  test("formatMetrics has every one of AIBrix's names, with help and type", () => {
    const names = linesAfter([]).flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []);
    expect(names.toSorted()).toEqual(
      [
        "connection_status",
        "connections_total",
        "disconnections_total",
        "errors_total",
        "event_processing_duration_seconds",
        "events_processed_total",
        "events_received_total",
        "last_sequence_id",
        "missed_events_total",
        "reconnect_attempts_total",
        "replay_failures_total",
        "replay_requests_total",
        "replay_success_total",
      ].map((name) => PREFIX + name),
    );
    expect(linesAfter([])).toContain(`# HELP ${PREFIX}missed_events_total Batches that were missed and could not be replayed.`);
  });

  test("formatMetrics counts what was reported", () => {
    const lines = linesAfter([
      { type: "connection", event: "connected" },
      { type: "connection", event: "disconnected" },
      { type: "connection", event: "connected" },
      { type: "gap", from: 3, to: 7 },
      { type: "replay-asked" },
      { type: "replay-asked" },
      { type: "replay-answered" },
      { type: "replay-failed", reason: "timeout" },
      { type: "batch", source: "live", batchSeq: 4711, payload: new Uint8Array(0) },
    ]);
    for (const [name, value] of Object.entries({
      connections_total: 2,
      disconnections_total: 1,
      reconnect_attempts_total: 1,
      connection_status: 1,
      missed_events_total: 5,
      replay_requests_total: 2,
      replay_success_total: 1,
      replay_failures_total: 1,
      last_sequence_id: 4711,
    })) {
      expect(lines).toContain(`${PREFIX}${name}{pod_key="p"} ${value}`);
    }
  });

  test("formatMetrics writes durations as a cumulative histogram", () => {
    const counters = new ClientCounters();
    for (const durationS of [0.001, 0.02, 60]) counters.processing.add(durationS);
    const text = formatMetrics(counters, "p");
    const name = `${PREFIX}event_processing_duration_seconds`;
    expect(text).toContain(`${name}_bucket{pod_key="p",le="0.005"} 1\n`);
    expect(text).toContain(`${name}_bucket{pod_key="p",le="0.025"} 2\n`);
    expect(text).toContain(`${name}_bucket{pod_key="p",le="+Inf"} 3\n`);
    expect(text).toContain(`${name}_sum{pod_key="p"} 60.021\n`);
    expect(text).toContain(`${name}_count{pod_key="p"} 3\n`);
  });

  test("formatMetrics escapes the pod key", () => {
    expect(linesAfter([], 'a"b\\c\nd')).toContain(`${PREFIX}connections_total{pod_key="a\\"b\\\\c\\nd"} 0`);
  });
});

describe("ClientCounters", () => {
  test("ClientCounters tells reconnects, restarts and drops by reason in its stats", () => {
    const counters = new ClientCounters();
    expect(counters.stats()).toMatchObject({ isConnected: false, reconnects: 0, lastBatchSeq: null });
    for (const report of [
      { type: "connection", event: "connected" },
      { type: "connection", event: "refused" },
      { type: "connection", event: "connected" },
      { type: "restart", lastBatchSeq: 5, foundBatchSeq: 0 },
      { type: "dropped", reason: "foreign-topic" },
    ] as const) {
      counters.report(report);
    }
    expect(counters.stats()).toMatchObject({ isConnected: true, reconnects: 1, restarts: 1 });
    expect(counters.stats().droppedMessages).toEqual({ repeat: 0, "foreign-topic": 1, "malformed-frames": 0, oversized: 0 });
  });
});

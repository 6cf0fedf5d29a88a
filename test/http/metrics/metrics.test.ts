import { expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { createFakeApp, streamMatch } from "../fake-directory.ts";

const REQUEST = new Request("http://localhost/metrics");

test("GET /metrics tells each stream's state and counts", async () => {
  const { app, directory, reports } = createFakeApp();
  const match = streamMatch("10.0.0.5:8000", 1, { coverage: "partial" });
  directory.answer = [match, streamMatch("10.0.0.6:8000", 0, { unsynchronized: unsynchronized("gap", 3, 5) })];
  reports.push({
    stream: match.stream,
    skippedEvents: { "sparse-group": 4 },
    drops: { "repeated-batch": 2 },
    trailingBytes: 7,
    recoveriesAsked: 3,
    recoveriesAnswered: 1,
  });
  const response = await app.handle(REQUEST);
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const lines = (await response.text()).split("\n");
  const stream = 'instance="10.0.0.5:8000",rank="1"';
  expect(lines).toContain("warmpath_ready 1");
  expect(lines).toContain("warmpath_index_bytes 65536");
  expect(lines).toContain(`warmpath_stream_synchronized{${stream}} 1`);
  expect(lines).toContain('warmpath_stream_synchronized{instance="10.0.0.6:8000",rank="0"} 0');
  expect(lines).toContain(`warmpath_stream_coverage_full{${stream}} 0`);
  expect(lines).toContain(`warmpath_stream_batch_sequence{${stream}} 7`);
  expect(lines).toContain(`warmpath_stream_skipped_events_total{${stream},reason="sparse-group"} 4`);
  expect(lines).toContain(`warmpath_stream_dropped_messages_total{${stream},reason="repeated-batch"} 2`);
  expect(lines).toContain(`warmpath_stream_recoveries_asked_total{${stream}} 3`);
  expect(lines).toContain(`warmpath_stream_recoveries_answered_total{${stream}} 1`);
});

test("GET /metrics answers also while the index is busy and queries cannot be answered", async () => {
  const { app, directory } = createFakeApp({ notReady: ["the ingest thread is starting"] });
  directory.answer = "busy";
  const response = await app.handle(REQUEST);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("warmpath_ready 0\n");
});

import { expect, test } from "bun:test";
import { formatExposition, METRICS, metricsTable } from "#metrics";

test("formatExposition puts the samples of a metric under its help and type", () => {
  const text = formatExposition([
    { metric: METRICS.streamSynchronized, labels: ["a:1", 0], value: 1 },
    { metric: METRICS.indexBytes, labels: [], value: 65_536 },
    { metric: METRICS.streamSynchronized, labels: ["b:1", 1], value: 0 },
  ]);
  expect(text).toBe(
    [
      "# HELP warmpath_stream_synchronized 1 while the stream is synchronized, else 0",
      "# TYPE warmpath_stream_synchronized gauge",
      'warmpath_stream_synchronized{instance="a:1",rank="0"} 1',
      'warmpath_stream_synchronized{instance="b:1",rank="1"} 0',
      "# HELP warmpath_index_bytes Memory that the tables of the index take",
      "# TYPE warmpath_index_bytes gauge",
      "warmpath_index_bytes 65536",
      "",
    ].join("\n"),
  );
});

test("formatExposition escapes what a label's value may hold", () => {
  const text = formatExposition([{ metric: METRICS.streamBatchSeq, labels: ['a"b\\c\nd', 0], value: 3 }]);
  expect(text).toContain('instance="a\\"b\\\\c\\nd"');
});

test("METRICS have names of their own, and counters end in _total", () => {
  const metrics = Object.values(METRICS);
  expect(new Set(metrics.map(({ name }) => name)).size).toBe(metrics.length);
  for (const { name, kind } of metrics) expect(name.endsWith("_total")).toBe(kind === "counter");
});

test("metricsTable has a row for every metric", () => {
  for (const { name } of Object.values(METRICS)) expect(metricsTable()).toContain(`| \`${name}\` |`);
});

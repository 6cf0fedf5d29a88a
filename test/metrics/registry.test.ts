import { expect, test } from "bun:test";
import { METRICS, MetricsRegistry } from "#metrics";

test("MetricsRegistry puts what it reads under the metric's help and type", async () => {
  const metrics = new MetricsRegistry();
  metrics.read(METRICS.streamSynchronized, () => [
    { labels: { instance_name: "a:1", rank: 0 }, value: 1 },
    { labels: { instance_name: "b:1", rank: 1 }, value: 0 },
  ]);
  metrics.readOne(METRICS.ingestCrashes, () => 2);
  expect(await metrics.exposition()).toBe(
    [
      `# HELP warmpath_stream_synchronized ${METRICS.streamSynchronized.help}`,
      "# TYPE warmpath_stream_synchronized gauge",
      'warmpath_stream_synchronized{instance_name="a:1",rank="0"} 1',
      'warmpath_stream_synchronized{instance_name="b:1",rank="1"} 0',
      "",
      `# HELP warmpath_ingest_crashes_total ${METRICS.ingestCrashes.help}`,
      "# TYPE warmpath_ingest_crashes_total counter",
      "warmpath_ingest_crashes_total 2",
      "",
    ].join("\n"),
  );
});

test("MetricsRegistry escapes what a label's value may hold", async () => {
  const metrics = new MetricsRegistry();
  metrics.read(METRICS.loadKnown, () => [{ labels: { instance_name: 'a"b\\c\nd' }, value: 3 }]);
  expect(await metrics.exposition()).toContain('instance_name="a\\"b\\\\c\\nd"');
});

test("MetricsRegistry reads at every scrape, before the scrape's promise is returned", async () => {
  const metrics = new MetricsRegistry();
  let value = 1;
  metrics.readOne(METRICS.indexEntries, () => value);
  const first = metrics.exposition();
  value = 2;
  const second = metrics.exposition();
  value = 3;
  expect(await first).toContain("warmpath_index_entries 1\n");
  expect(await second).toContain("warmpath_index_entries 2\n");
});

test("MetricsRegistry counts into a histogram's buckets", async () => {
  const metrics = new MetricsRegistry();
  const histogram = metrics.histogram(METRICS.hitRatio);
  for (const share of [0, 0.55, 1]) histogram.observe(share);
  const text = await metrics.exposition();
  expect(text).toContain("# TYPE warmpath_route_hit_ratio histogram\n");
  expect(text).toContain('warmpath_route_hit_ratio_bucket{le="0.5"} 1\n');
  expect(text).toContain('warmpath_route_hit_ratio_bucket{le="0.6"} 2\n');
  expect(text).toContain('warmpath_route_hit_ratio_bucket{le="+Inf"} 3\n');
  expect(text).toContain("warmpath_route_hit_ratio_count 3\n");
});

test("MetricsRegistry refuses a metric that is registered already", () => {
  const metrics = new MetricsRegistry();
  metrics.readOne(METRICS.indexEntries, () => 1);
  expect(() => metrics.readOne(METRICS.indexEntries, () => 1)).toThrow("already been registered");
});

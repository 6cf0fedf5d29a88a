import { expect, test } from "bun:test";
import { METRICS, type Metric, metricsTable } from "#metrics";

const metrics: Metric[] = Object.values(METRICS);

test("METRICS have names of their own", () => {
  expect(new Set(metrics.map(({ name }) => name)).size).toBe(metrics.length);
});

test("METRICS are named as Prometheus asks: base units, counters end in _total and nothing else does", () => {
  for (const { name, kind } of metrics) {
    expect(name).toMatch(/^(warmpath|process)_[a-z_]+$/);
    expect(name.endsWith("_total")).toBe(kind === "counter");
    expect(name).not.toMatch(/_(milliseconds|ms|micros|percent|kilobytes|megabytes)(_|$)/);
  }
});

test("METRICS have no label that Prometheus itself sets, and each label once", () => {
  for (const { labels } of metrics) {
    expect(labels).not.toContain("instance");
    expect(labels).not.toContain("job");
    expect(labels).not.toContain("le");
    expect(new Set(labels).size).toBe(labels.length);
  }
});

test("METRICS have help that fits one cell of a table", () => {
  for (const { help } of metrics) expect(help).toMatch(/^[^|\n]+[^.|\n]$/);
});

test("METRICS have rising bounds where they are histograms, and none elsewhere", () => {
  for (const { kind, buckets } of metrics) {
    expect(buckets.length > 0).toBe(kind === "histogram");
    expect([...buckets].sort((a, b) => a - b)).toEqual([...buckets]);
  }
});

test("metricsTable has a row for every metric", () => {
  for (const { name } of metrics) expect(metricsTable()).toContain(`| \`${name}\` |`);
});

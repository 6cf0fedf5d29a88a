import { afterEach, beforeEach, expect, test } from "bun:test";
import { MetricsRegistry, type ProcessWatch, registerProcessMetrics } from "#metrics";

let metrics: MetricsRegistry;
let watch: ProcessWatch;

beforeEach(() => {
  metrics = new MetricsRegistry();
  watch = registerProcessMetrics(metrics);
});

afterEach(() => watch.stop());

test("registerProcessMetrics tells of this process, in base units", async () => {
  const text = await metrics.exposition();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  expect(value("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(value("process_cpu_seconds_total")).toBeLessThan(3600);
  expect(value("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(Math.abs(value("process_start_time_seconds") - (Date.now() / 1000 - process.uptime()))).toBeLessThan(5);
});

test.skipIf(process.platform !== "linux")("registerProcessMetrics counts open files on Linux", async () => {
  const text = await metrics.exposition();
  expect(text).toMatch(/^process_open_fds [1-9]\d*$/m);
  expect(text).toMatch(/^process_max_fds [1-9]\d*$/m);
});

test("registerProcessMetrics tells how late timers were since the last scrape only", async () => {
  const longestSeconds = async () =>
    Number(/event_loop_delay_seconds\{statistic="max"\} (\S+)/.exec(await metrics.exposition())?.[1]);
  await Bun.sleep(30); // timers must have come due
  for (const endMs = performance.now() + 100; performance.now() < endMs; );
  await Bun.sleep(30);
  expect(await longestSeconds()).toBeGreaterThan(0.05);
  expect(await longestSeconds()).toBe(0); // none came due in between
});

test("registerProcessMetrics looks at no timers once it is stopped", async () => {
  watch.stop();
  await metrics.exposition(); // forgets what was seen before
  for (const endMs = performance.now() + 50; performance.now() < endMs; );
  await Bun.sleep(30);
  expect(await metrics.exposition()).toContain('event_loop_delay_seconds{statistic="max"} 0\n');
});

import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { registerInstance } from "./registered-instance.ts";
import { scrape } from "./scraped.ts";
import { streamReport } from "./stream-report.ts";

const STREAM = { instance_name: "10.0.0.5:8000", rank: 1 };

describe("GET /metrics", () => {
  test("GET /metrics is Prometheus' text format", async () => {
    const response = await createFakeApp().app.handle(new Request("http://localhost/metrics"));
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  });

  test("GET /metrics tells each stream's state, as the index has it", async () => {
    const { app, directory } = createFakeApp();
    directory.answer = [
      streamMatch("10.0.0.5:8000", 1, { coverage: "partial" }),
      streamMatch("10.0.0.6:8000", 0, { unsynchronized: unsynchronized("gap", 3, 5) }),
    ];
    const scraped = await scrape(app);
    expect(scraped.value("warmpath_stream_synchronized", STREAM)).toBe(1);
    expect(scraped.value("warmpath_stream_synchronized", { instance_name: "10.0.0.6:8000", rank: 0 })).toBe(0);
    expect(scraped.value("warmpath_stream_coverage_full", STREAM)).toBe(0);
    expect(scraped.value("warmpath_stream_batch_sequence", STREAM)).toBe(7);
    expect(scraped.value("warmpath_stream_blocks", { ...STREAM, tier: "host" })).toBe(5);
    expect(scraped.value("warmpath_index_blocks", { tier: "device" })).toBe(20);
    expect(scraped.value("warmpath_index_blocks", { tier: "disk" })).toBe(4);
  });

  test("GET /metrics tells what each stream has gone through, in seconds and bytes", async () => {
    const { app, reports } = createFakeApp();
    reports.push(streamReport(streamMatch("10.0.0.5:8000", 1).stream));
    const scraped = await scrape(app);
    const value = (name: string, labels = {}) => scraped.value(`warmpath_stream_${name}`, { ...STREAM, ...labels });
    expect(value("batches_total")).toBe(12);
    expect(value("events_total", { type: "stored" })).toBe(40);
    expect(value("events_total", { type: "removed" })).toBe(20);
    expect(value("events_total", { type: "cleared" })).toBe(1);
    expect(value("skipped_events_total", { reason: "sparse-group" })).toBe(4);
    expect(value("dropped_messages_total", { reason: "repeated-batch" })).toBe(2);
    expect(value("trailing_bytes_total")).toBe(7);
    expect(value("recoveries_asked_total")).toBe(3);
    expect(value("recoveries_answered_total")).toBe(1);
    expect(value("recoveries_total", { kind: "snapshot", outcome: "failed" })).toBe(2);
    expect(value("problems_total", { reason: "gap" })).toBe(5);
    expect(value("unsynchronized_seconds_total")).toBe(2.5);
    expect(value("lag_seconds")).toBe(0.0125);
  });

  test("GET /metrics has no lag of a stream whose engine tells no time of day", async () => {
    const { app, reports } = createFakeApp();
    reports.push(streamReport(streamMatch("10.0.0.5:8000", 1).stream, { lagMs: null }));
    expect((await scrape(app)).samplesOf("warmpath_stream_lag_seconds")).toEqual([]);
  });

  test("GET /metrics tells how full the index is", async () => {
    const scraped = await scrape(createFakeApp().app);
    expect(scraped.value("warmpath_index_entries")).toBe(12);
    expect(scraped.value("warmpath_index_used_bytes")).toBe(65_536);
    expect(scraped.value("warmpath_index_limit_bytes")).toBe(655_360);
    expect(scraped.value("warmpath_index_reserved_bytes")).toBe(131_072);
    expect(scraped.value("warmpath_index_load_ratio")).toBe(0.5);
  });

  test("GET /metrics tells the fleet by role and state, and each instance's load and its age", async () => {
    const { app, fleet, clock } = createFakeApp();
    registerInstance(fleet, "a:1");
    registerInstance(fleet, "b:1", "PREFILL");
    registerInstance(fleet, "c:1");
    fleet.put("http", { ...registerInstance(fleet, "c:1"), incarnation: "other" });
    const load = { waitingRequests: 3, cacheUsage: 0.25 };
    fleet.heartbeat({ name: "a:1", incarnation: "1", load, latency: null });
    fleet.reportLoad("scrape", "gone:1", load);
    clock.advance(2000);
    const scraped = await scrape(app);
    expect(scraped.value("warmpath_fleet_instances", { role: "DEFAULT", state: "ACTIVE" })).toBe(2);
    expect(scraped.value("warmpath_fleet_instances", { role: "PREFILL", state: "ACTIVE" })).toBe(1);
    expect(scraped.value("warmpath_fleet_instances", { role: "DEFAULT", state: "SUSPECT" })).toBe(0);
    expect(scraped.value("warmpath_fleet_refused_registrations", { registry: "http" })).toBe(1);
    expect(scraped.value("warmpath_fleet_ignored_events_total", { reason: "not-registered" })).toBe(1);
    expect(scraped.value("warmpath_fleet_registry_connected", { registry: "etcd" })).toBe(1);
    expect(scraped.value("warmpath_instance_load_known", { instance_name: "a:1" })).toBe(1);
    expect(scraped.value("warmpath_instance_load_known", { instance_name: "b:1" })).toBe(0);
    expect(scraped.value("warmpath_instance_load_age_seconds", { instance_name: "a:1" })).toBe(2);
    expect(scraped.value("warmpath_instance_load_age_seconds", { instance_name: "b:1" })).toBeUndefined();
    expect(scraped.value("warmpath_instance_waiting_requests", { instance_name: "a:1" })).toBe(3);
    expect(scraped.value("warmpath_instance_cache_usage_ratio", { instance_name: "a:1" })).toBe(0.25);
  });

  test("GET /metrics goes on telling the age of a report that is too old to count", async () => {
    const { app, fleet, clock } = createFakeApp();
    registerInstance(fleet, "a:1");
    fleet.heartbeat({ name: "a:1", incarnation: "1", load: { waitingRequests: 3, cacheUsage: 0.25 }, latency: null });
    clock.advance(60_000);
    const scraped = await scrape(app);
    expect(scraped.value("warmpath_instance_load_known", { instance_name: "a:1" })).toBe(0);
    expect(scraped.value("warmpath_instance_load_age_seconds", { instance_name: "a:1" })).toBe(60);
    expect(scraped.value("warmpath_instance_waiting_requests", { instance_name: "a:1" })).toBeUndefined();
  });

  test("GET /metrics answers also while the index is busy and queries cannot be answered", async () => {
    const { app, directory } = createFakeApp({ notReady: ["the ingest thread is starting"] });
    directory.answer = "busy";
    const scraped = await scrape(app);
    expect(scraped.value("warmpath_ready")).toBe(0);
    expect(scraped.samplesOf("warmpath_stream_synchronized")).toEqual([]);
  });

  test("GET /metrics says that nothing can be served while no instance can", async () => {
    const { app, fleet } = createFakeApp();
    expect((await scrape(app)).value("warmpath_serving")).toBe(0);
    registerInstance(fleet, "a:1");
    fleet.heartbeat({ name: "a:1", incarnation: "1", load: { waitingRequests: 0, cacheUsage: 0 }, latency: null });
    expect((await scrape(app)).value("warmpath_serving")).toBe(1);
  });

  test("GET /metrics does not mix two scrapes that are under way together", async () => {
    const { app, directory } = createFakeApp();
    directory.answer = [streamMatch("10.0.0.5:8000", 1)];
    const first = scrape(app);
    directory.answer = [streamMatch("10.0.0.6:8000", 1)];
    const second = scrape(app);
    for (const scraped of await Promise.all([first, second])) {
      expect(scraped.samplesOf("warmpath_stream_synchronized")).toHaveLength(1);
    }
  });
});

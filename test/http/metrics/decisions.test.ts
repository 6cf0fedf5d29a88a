import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { registerInstance } from "./registered-instance.ts";
import { scrape } from "./scraped.ts";

const DECISIONS = "warmpath_route_decisions_total";

/** Eight blocks of 128 tokens. */
const PROMPT = { token_ids: Array.from({ length: 1024 }, (_, n) => n) };

/** Two instances without a queue, of which the first holds half of the prompt: three blocks on the device, one on the host. */
function createRoutedApp(options: Parameters<typeof createFakeApp>[0] = {}) {
  const fake = createFakeApp(options);
  for (const name of ["a:1", "b:1"]) {
    registerInstance(fake.fleet, name);
    fake.fleet.heartbeat({ name, incarnation: "1", load: { waitingRequests: 0, cacheUsage: 0 }, latency: null });
  }
  const { stream } = streamMatch("a:1", 0);
  fake.directory.answer = [streamMatch("a:1", 0, { stream: { ...stream, instanceName: "a:1", incarnation: "1" } })];
  return fake;
}

describe("Decisions are counted", () => {
  test("Decisions are counted by policy and outcome, with their time", async () => {
    const { app, send } = createRoutedApp();
    await send("POST", "/v1/route", PROMPT);
    await send("POST", "/v1/route", { requests: [PROMPT, PROMPT].map((prompt) => ({ token_ids: prompt.token_ids })) });
    const scraped = await scrape(app);
    expect(scraped.value(DECISIONS, { policy: "CAR", outcome: "placed" })).toBe(3);
    expect(scraped.value("warmpath_route_duration_seconds_count")).toBe(3);
    expect(scraped.value("warmpath_index_match_duration_seconds_count")).toBe(3);
  });

  test("Decisions of CAR tell which share was held, on any tier, and by how much the winner won", async () => {
    const { app, send } = createRoutedApp();
    await send("POST", "/v1/route", PROMPT);
    const scraped = await scrape(app);
    expect(scraped.value("warmpath_route_hit_ratio_sum")).toBe(0.5);
    // λ = 0.5, and a host block is worth half: 0.5 × (3 + 0.5) / 8 against nothing.
    expect(scraped.value("warmpath_route_score_margin_sum")).toBeCloseTo(0.21875, 10);
  });

  test("Decisions without a prompt or a second candidate have no share and no margin", async () => {
    const { app, send, fleet } = createRoutedApp();
    fleet.remove("etcd", "b:1", null);
    await send("POST", "/v1/route", { token_ids: [] });
    const scraped = await scrape(app);
    expect(scraped.value(DECISIONS, { outcome: "placed", policy: "CAR" })).toBe(1);
    expect(scraped.value("warmpath_route_hit_ratio_count")).toBe(0);
    expect(scraped.value("warmpath_route_score_margin_count")).toBe(0);
  });

  test("Decisions of RR compare nothing", async () => {
    const { app, send } = createRoutedApp({ routing: { policy: "RR" } });
    await send("POST", "/v1/route", PROMPT);
    const scraped = await scrape(app);
    expect(scraped.value(DECISIONS, { policy: "RR", outcome: "placed" })).toBe(1);
    expect(scraped.value("warmpath_route_hit_ratio_count")).toBe(0);
  });

  test("Decisions that place nobody are counted by what stood against it", async () => {
    const empty = createFakeApp();
    await empty.send("POST", "/v1/route", PROMPT);
    expect((await scrape(empty.app)).value(DECISIONS, { policy: "CAR", outcome: "no-instance" })).toBe(1);
    const silent = createRoutedApp();
    silent.clock.advance(60_000);
    await silent.send("POST", "/v1/route", PROMPT);
    expect((await scrape(silent.app)).value(DECISIONS, { policy: "CAR", outcome: "load-unknown" })).toBe(1);
    const decoding = createFakeApp();
    registerInstance(decoding.fleet, "d:1", "DECODE");
    await decoding.send("POST", "/v1/route", PROMPT);
    expect((await scrape(decoding.app)).value(DECISIONS, { policy: "CAR", outcome: "no-prefill-side" })).toBe(1);
    const mixed = createRoutedApp();
    registerInstance(mixed.fleet, "p:1", "PREFILL");
    mixed.fleet.heartbeat({ name: "p:1", incarnation: "1", load: { waitingRequests: 0, cacheUsage: 0 }, latency: null });
    for (const name of ["a:1", "b:1"]) {
      mixed.fleet.heartbeat({ name, incarnation: "1", load: { waitingRequests: -1, cacheUsage: 0 }, latency: null });
    }
    await mixed.send("POST", "/v1/route", PROMPT);
    expect((await scrape(mixed.app)).value(DECISIONS, { policy: "CAR", outcome: "mixed" })).toBe(1);
  });

  test("Decisions are counted that the busy index prevented", async () => {
    const { app, send, directory } = createRoutedApp();
    directory.answer = "busy";
    await send("POST", "/v1/route", PROMPT);
    const scraped = await scrape(app);
    expect(scraped.value(DECISIONS, { policy: "CAR", outcome: "index-busy" })).toBe(1);
    expect(scraped.value("warmpath_index_busy_matches_total")).toBe(1);
    expect(scraped.value("warmpath_index_match_duration_seconds_count")).toBe(0);
  });

  test("Requests in flight and predicted prefixes are told while they are", async () => {
    const { app, send } = createRoutedApp({ routing: { trackInFlight: true, predictionWindowMs: 1000 } });
    await send("POST", "/v1/route", { ...PROMPT, request_id: "one" });
    const during = await scrape(app);
    expect(during.value("warmpath_route_in_flight_requests", { side: "prefill" })).toBe(1);
    expect(during.value("warmpath_route_in_flight_requests", { side: "decode" })).toBe(0);
    expect(during.value("warmpath_route_predicted_prefixes")).toBeGreaterThan(0);
    await send("POST", "/v1/route/one/finished", { phase: "cancel" });
    expect((await scrape(app)).value("warmpath_route_in_flight_requests", { side: "prefill" })).toBe(0);
  });

  test("Requests under SLO_AWARE are in flight on both sides, and steps of unknown ones are counted", async () => {
    const { app, send, fleet } = createFakeApp({ routing: { policy: "SLO_AWARE" } });
    registerInstance(fleet, "p:1", "PREFILL");
    registerInstance(fleet, "d:1", "DECODE");
    await send("POST", "/v1/route", { ...PROMPT, request_id: "one" });
    await send("POST", "/v1/route/other/finished", { phase: "prefill" });
    const scraped = await scrape(app);
    expect(scraped.value("warmpath_route_in_flight_requests", { side: "prefill" })).toBe(1);
    expect(scraped.value("warmpath_route_in_flight_requests", { side: "decode" })).toBe(1);
    expect(scraped.value("warmpath_route_unknown_steps_total")).toBe(1);
  });

  test("Looking at the streams' states is no match", async () => {
    const { app, dependencies, directory } = createRoutedApp();
    directory.answer = [streamMatch("a:1", 0, { unsynchronized: unsynchronized("gap", 3, 5) })];
    dependencies.directory.match(0, null, null);
    expect((await scrape(app)).value("warmpath_index_match_duration_seconds_count")).toBe(0);
  });
});

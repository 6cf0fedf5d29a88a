/** Which series there are: those of the catalogue, all of them, and none of what is gone. */

import { expect, test } from "bun:test";
import type { LoadBalancePolicy } from "#domain";
import { METRICS, type Metric } from "#metrics";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { createBusyApp } from "./busy-app.ts";
import { registerInstance } from "./registered-instance.ts";
import { scrape } from "./scraped.ts";
import { streamReport } from "./stream-report.ts";

function baseName(name: string, histograms: ReadonlySet<string>): string {
  const base = name.replace(/_(bucket|sum|count)$/, "");
  return histograms.has(base) ? base : name;
}

test("A service exports every metric of the catalogue, with its kind and its labels, and nothing else", async () => {
  const catalogue = new Map(Object.values<Metric>(METRICS).map((metric) => [metric.name, metric]));
  const histograms = new Set([...catalogue.values()].filter(({ kind }) => kind === "histogram").map(({ name }) => name));
  const { app } = await createBusyApp();
  await scrape(app); // so that an answer has been counted
  const scraped = await scrape(app);

  const exported = new Set(scraped.samples.map(({ name }) => baseName(name, histograms)));
  expect([...exported].sort()).toEqual([...catalogue.keys()].sort());
  for (const { name, kind } of catalogue.values()) expect(scraped.text).toContain(`# TYPE ${name} ${kind}\n`);
  for (const { name, labels } of scraped.samples) {
    const { kind, labels: known } = catalogue.get(baseName(name, histograms)) as Metric;
    const found = Object.keys(labels).filter((label) => kind !== "histogram" || label !== "le");
    expect({ name, labels: found }).toEqual({ name, labels: [...known] });
  }
});

test("A service has no two samples of one name and the same labels", async () => {
  const { app } = await createBusyApp();
  const keys = (await scrape(app)).samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
  expect(new Set(keys).size).toBe(keys.length);
});

test("A service keeps no series of an instance, nor of its stream, that is gone", async () => {
  const { app, fleet, directory, reports } = await createBusyApp();
  expect((await scrape(app)).of("10.0.0.5:8000").length).toBeGreaterThan(20);
  fleet.remove("etcd", "10.0.0.5:8000", null);
  directory.answer = [];
  reports.length = 0;
  expect((await scrape(app)).of("10.0.0.5:8000")).toEqual([]);
});

test("A service has as many series after thousands of instances came and went as before", async () => {
  const { app, fleet, send } = createFakeApp();
  const count = async () => (await scrape(app)).samples.length;
  const churn = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      registerInstance(fleet, `10.1.${n >> 8}.${n & 255}:8000`);
      await send("POST", "/v1/route", { token_ids: [n], request_id: `request-${n}` });
      await app.handle(new Request(`http://localhost/nowhere/${n}`));
      await app.handle(new Request(`http://localhost/v1/instances/${n}`, { method: "DELETE" }));
      fleet.remove("etcd", `10.1.${n >> 8}.${n & 255}:8000`, null);
    }
  };
  await count(); // the scrape's own answer is counted
  await churn(0, 10);
  const before = await count();
  await churn(10, 2000);
  expect(await count()).toBe(before);
});

test("A service has series of no more instances than the fleet takes", async () => {
  const { app, fleet } = createFakeApp({ instancesMax: 3 });
  for (let n = 0; n < 9; n++) registerInstance(fleet, `10.0.0.${n}:8000`);
  const scraped = await scrape(app);
  expect(scraped.samplesOf("warmpath_instance_load_known")).toHaveLength(3);
  expect(scraped.value("warmpath_fleet_refused_registrations", { registry: "etcd" })).toBe(3); // as many are kept
});

test("A service of 128 streams and 1,000 instances has some thousand series", async () => {
  const { app, fleet, directory, reports } = createFakeApp();
  directory.answer = Array.from({ length: 128 }, (_, n) => streamMatch(`10.0.0.${n}:8000`, 0));
  reports.push(...directory.answer.map(({ stream }) => streamReport(stream)));
  for (let n = 0; n < 1000; n++) {
    const { name } = registerInstance(fleet, `10.0.${n >> 8}.${n & 255}:8000`);
    fleet.heartbeat({ name, incarnation: "1", load: { waitingRequests: 1, cacheUsage: 0.5 }, latency: null });
  }
  const scraped = await scrape(app);
  expect(scraped.of("10.0.0.5:8000").length).toBeLessThan(40);
  expect(scraped.samples.length).toBeLessThan(10_000);
});

test.each<LoadBalancePolicy>(["CAR", "RR", "SLO_AWARE"])(
  "A service under %s has a series for every outcome from the start",
  async (policy) => {
    const { app } = createFakeApp({ routing: { policy } });
    const scraped = await scrape(app);
    expect(scraped.value("warmpath_route_decisions_total", { policy, outcome: "placed" })).toBe(0);
    expect(scraped.value("warmpath_route_decisions_total", { policy, outcome: "no-instance" })).toBe(0);
  },
);

import { expect, test } from "bun:test";
import { FleetLoop } from "../../src/fleet/fleet-loop.ts";

test("FleetLoop tells every follower at once of a process that is gone, once its streams are", () => {
  const heard: string[] = [];
  const loop = new FleetLoop({
    fleet: { listener: null, instances: () => [], tick() {}, stop() {} },
    subscriptions: { refresh() {}, drop: (name) => heard.push(`subscriptions ${name}`) },
    scraper: null,
    sources: [],
    refreshIntervalMs: 1000,
  });
  for (const who of ["first", "second"]) loop.addFollower({ tick() {}, deregistered: (name) => heard.push(`${who} ${name}`) });
  loop.deregistered("a:1");
  expect(heard).toEqual(["subscriptions a:1", "first a:1", "second a:1"]);
});

test("FleetLoop tells of each registry whether it is heard", () => {
  const source = { start() {}, stop: async () => {}, notReady: () => null };
  const loop = new FleetLoop({
    fleet: { listener: null, instances: () => [], tick() {}, stop() {} },
    subscriptions: { refresh() {}, drop() {} },
    scraper: null,
    sources: [
      { ...source, registry: "etcd", isConnected: true },
      { ...source, registry: "kubernetes", isConnected: false },
    ],
    refreshIntervalMs: 1000,
  });
  expect(loop.connections()).toEqual([
    { registry: "etcd", isConnected: true },
    { registry: "kubernetes", isConnected: false },
  ]);
});

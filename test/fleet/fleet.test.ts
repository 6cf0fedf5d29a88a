import { describe, expect, test } from "bun:test";
import type { LoadReport } from "#domain";
import type { Instance } from "../../src/fleet/instance.ts";
import { createFleet } from "./fleet-scene.ts";
import { registration } from "./transition-states.ts";

const LOAD: LoadReport = { waitingRequests: 3, cacheUsage: 0.25 };
const heartbeat = (name: string, fields: { incarnation?: string; load?: LoadReport } = {}) => ({
  name,
  incarnation: fields.incarnation ?? "process-a",
  load: fields.load ?? null,
  latency: null,
});

describe("Fleet: registrations", () => {
  test("Fleet shows an instance that was put, as it was put", () => {
    const { fleet, clock, told, logged } = createFleet();
    clock.advance(500);
    const described = registration({ name: "a", role: "PREFILL" });
    expect(fleet.put("etcd", described)).toBe("registered");
    const [instance] = fleet.instances();
    expect(instance).toMatchObject({
      registry: "etcd",
      state: "ACTIVE",
      stateSinceMs: 500,
      currentRole: "PREFILL",
      latency: null,
    });
    expect(instance.registration).toBe(described);
    expect(fleet.instance("a")).toBe(instance);
    expect(fleet.instance("b")).toBeNull();
    expect(told).toEqual(["changed; a"]);
    expect(logged).toEqual(["info Instance is registered: a"]);
  });

  test("Fleet sorts its instances by name in code unit order", () => {
    const { fleet } = createFleet();
    for (const name of ["b", "a", "B", "ä", "a:10", "a:9"]) fleet.put("etcd", registration({ name }));
    expect(fleet.instances().map(({ registration: { name } }) => name)).toEqual(["B", "a", "a:10", "a:9", "b", "ä"]);
    fleet.remove("etcd", "a:10", null);
    expect(fleet.instances().map(({ registration: { name } }) => name)).toEqual(["B", "a", "a:9", "b", "ä"]);
  });

  test("Fleet shows the same instance and the same array until something but a load changes", () => {
    const { fleet, told } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("etcd", registration({ name: "b" }));
    const before = fleet.instances();
    const [a, b] = before;
    fleet.put("etcd", registration({ name: "a" }));
    fleet.heartbeat({ ...heartbeat("a", { load: LOAD }), latency: { ttftMs: 80, tbtMs: 9 } });
    fleet.reportLoad("etcd", "b", LOAD);
    fleet.loseLease("etcd", "a", null);
    fleet.tick();
    expect(fleet.instances()).toBe(before);
    expect(told).toHaveLength(2);
    expect(a.latency).toEqual({ ttftMs: 80, tbtMs: 9 });
    expect(b.loads).toHaveLength(1);
    fleet.put("etcd", registration({ name: "a", dpSize: 2 }));
    expect(fleet.instances()).not.toBe(before);
    expect(fleet.instances()[0]).not.toBe(a);
    expect(fleet.instances()[1]).toBe(b);
    expect(before[0].registration.dpSize).toBe(1);
    expect(told).toHaveLength(3);
  });

  test("Fleet refreshes a process and keeps its load, and forgets that of one that was replaced", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.heartbeat({ ...heartbeat("a", { load: LOAD }), latency: { ttftMs: 80, tbtMs: 9 } });
    expect(fleet.put("etcd", registration({ name: "a", dpSize: 2 }))).toBe("refreshed");
    expect(fleet.loadOf(instanceOf(fleet, "a"))).toMatchObject({ kind: "known", report: LOAD });
    expect(fleet.put("etcd", registration({ name: "a", incarnation: "process-b" }))).toBe("registered");
    expect(fleet.loadOf(instanceOf(fleet, "a"))).toEqual({ kind: "unknown", reason: "no load report yet" });
    expect(instanceOf(fleet, "a").latency).toBeNull();
  });

  test("Fleet tells of a process that is gone before its successor can be seen", () => {
    const { fleet, told } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("etcd", registration({ name: "b" }));
    told.length = 0;
    fleet.put("etcd", registration({ name: "a", incarnation: "process-b" }));
    expect(told).toEqual(["deregistered a; b", "changed; a b"]);
  });

  test("Fleet removes an instance at once, for its registry and its process only", () => {
    const { fleet, told, probes } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    expect(fleet.remove("http", "a", "process-a")).toBe(false);
    expect(fleet.remove("etcd", "a", "process-b")).toBe(false);
    expect(fleet.remove("etcd", "b", null)).toBe(false);
    expect(fleet.ignored).toEqual({ "other-registry": 1, "stale-incarnation": 1, "not-registered": 1 });
    expect(fleet.remove("etcd", "a", "process-a")).toBe(true);
    expect(told.slice(1)).toEqual(["deregistered a;", "changed;"]);
    expect(probes).toEqual([]);
  });
});

describe("Fleet: a lease that is lost", () => {
  test("Fleet keeps an instance whose /health answers, as long as its heartbeats come", async () => {
    const { fleet, clock, probes, logged } = createFleet();
    fleet.put("etcd", registration({ name: "a", address: "10.0.0.9:80" }));
    fleet.loseLease("etcd", "a", "process-a");
    fleet.loseLease("etcd", "a", null);
    expect(probes.map(({ address }) => address)).toEqual(["10.0.0.9:80"]);
    expect(instanceOf(fleet, "a").state).toBe("ACTIVE");
    clock.advance(700);
    await probes[0].end(true);
    expect(instanceOf(fleet, "a")).toMatchObject({ state: "LEASE_LOST", stateSinceMs: 700 });
    clock.advance(2900);
    expect(fleet.heartbeat(heartbeat("a"))).toBe("accepted");
    clock.advance(2999);
    fleet.tick();
    expect(instanceOf(fleet, "a").state).toBe("LEASE_LOST");
    clock.advance(1);
    fleet.tick();
    expect(instanceOf(fleet, "a").state).toBe("SUSPECT");
    expect(logged.slice(1)).toEqual(["warn Instance lives without a lease: a", "warn Instance is suspect: a"]);
  });

  test("Fleet deregisters an instance whose /health does not answer, after its time in SUSPECT", async () => {
    const { fleet, clock, probes, told, logged } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.loseLease("etcd", "a", null);
    await probes[0].end(false);
    expect(instanceOf(fleet, "a").state).toBe("SUSPECT");
    clock.advance(14_999);
    fleet.tick();
    expect(fleet.instance("a")).not.toBeNull();
    clock.advance(1);
    fleet.tick();
    expect(fleet.instance("a")).toBeNull();
    expect(told).toEqual(["changed; a", "changed; a", "deregistered a;", "changed;"]);
    expect(logged.slice(1)).toEqual(["warn Instance is suspect: a", "warn Instance is deregistered: a"]);
  });

  test("Fleet takes a suspect instance back by a heartbeat, and gives it its lease again by a put", async () => {
    const { fleet, probes, logged } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.loseLease("etcd", "a", null);
    await probes[0].end(false);
    fleet.heartbeat(heartbeat("a", { load: LOAD }));
    expect(instanceOf(fleet, "a").state).toBe("LEASE_LOST");
    expect(fleet.put("etcd", registration({ name: "a" }))).toBe("refreshed");
    expect(instanceOf(fleet, "a").state).toBe("ACTIVE");
    expect(fleet.loadOf(instanceOf(fleet, "a")).kind).toBe("known");
    expect(logged.slice(2)).toEqual(["warn Instance lives without a lease: a", "info Instance has its lease again: a"]);
  });

  test("Fleet begins the time in SUSPECT anew when another probe fails", async () => {
    const { fleet, clock, probes } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.loseLease("etcd", "a", null);
    await probes[0].end(false);
    clock.advance(10_000);
    fleet.loseLease("etcd", "a", null);
    await probes[1].end(false);
    expect(instanceOf(fleet, "a")).toMatchObject({ state: "SUSPECT", stateSinceMs: 10_000 });
    clock.advance(14_999);
    fleet.tick();
    expect(fleet.instance("a")).not.toBeNull();
  });

  test.each([
    ["is registered again", (fleet: Fleet) => fleet.put("etcd", registration({ name: "a" }))],
    ["is replaced", (fleet: Fleet) => fleet.put("etcd", registration({ name: "a", incarnation: "process-b" }))],
    ["is removed", (fleet: Fleet) => fleet.remove("etcd", "a", null)],
    ["is refused", (fleet: Fleet) => fleet.refuse("etcd", "a", "dp_size is -1")],
  ])("Fleet aborts the probe of an instance that %s meanwhile, and does not hear its answer", async (_how, end) => {
    const { fleet, probes } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.loseLease("etcd", "a", null);
    end(fleet);
    expect(probes[0].signal.aborted).toBe(true);
    const state = fleet.instance("a")?.state;
    await probes[0].end(false);
    expect(fleet.instance("a")?.state).toBe(state);
  });

  test("Fleet does not take the answer of a cancelled probe for that of the next one", async () => {
    const { fleet, probes } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.loseLease("etcd", "a", null);
    fleet.put("etcd", registration({ name: "a" }));
    fleet.loseLease("etcd", "a", null);
    await probes[0].end(false);
    expect(instanceOf(fleet, "a").state).toBe("ACTIVE");
    await probes[1].end(true);
    expect(instanceOf(fleet, "a").state).toBe("LEASE_LOST");
  });

  test("Fleet aborts every probe when it stops", async () => {
    const { fleet, probes } = createFleet();
    for (const name of ["a", "b"]) {
      fleet.put("etcd", registration({ name }));
      fleet.loseLease("etcd", name, null);
    }
    fleet.stop();
    expect(probes.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    await probes[0].end(false);
    expect(instanceOf(fleet, "a").state).toBe("ACTIVE");
  });
});

describe("Fleet: heartbeats and loads", () => {
  test("Fleet rejects a heartbeat of an instance or a process that is not there, with all that it carries", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    expect(fleet.heartbeat(heartbeat("b", { load: LOAD }))).toBe("not-registered");
    expect(fleet.heartbeat(heartbeat("a", { load: LOAD, incarnation: "process-b" }))).toBe("stale-incarnation");
    expect(fleet.loadOf(instanceOf(fleet, "a")).kind).toBe("unknown");
    expect(fleet.ignored).toEqual({ "other-registry": 0, "stale-incarnation": 1, "not-registered": 1 });
  });

  test("Fleet keeps what an earlier heartbeat told when one tells nothing of it", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.heartbeat({ ...heartbeat("a", { load: LOAD }), latency: { ttftMs: 80, tbtMs: 9 } });
    fleet.heartbeat(heartbeat("a"));
    expect(fleet.loadOf(instanceOf(fleet, "a"))).toMatchObject({ kind: "known", report: LOAD, origin: "heartbeat" });
    expect(instanceOf(fleet, "a").latency).toEqual({ ttftMs: 80, tbtMs: 9 });
  });

  test("Fleet says how old the load is, and when it has become too old", () => {
    const { fleet, clock } = createFleet({ loadReportMaxAgeMs: 2000 });
    fleet.put("etcd", registration({ name: "a" }));
    fleet.reportLoad("scrape", "a", LOAD);
    const instance = instanceOf(fleet, "a");
    clock.advance(2000);
    expect(fleet.loadOf(instance)).toEqual({ kind: "known", report: LOAD, origin: "scrape", ageMs: 2000 });
    clock.advance(1);
    expect(fleet.loadOf(instance)).toEqual({ kind: "unknown", reason: "load report of 2.1 s ago, at most 2 s is allowed" });
  });

  test("Fleet drops and counts a load report of an instance that is not there", () => {
    const { fleet } = createFleet();
    fleet.reportLoad("etcd", "a", LOAD);
    fleet.put("etcd", registration({ name: "a" }));
    expect(instanceOf(fleet, "a").loads).toEqual([]);
    expect(fleet.ignored["not-registered"]).toBe(1);
  });
});

describe("Fleet: MIX instances", () => {
  const roles = (fleet: Fleet) => fleet.instances().map(({ currentRole }) => currentRole);

  test("Fleet makes the first MIX instance DECODE and the next ones PREFILL", () => {
    const { fleet } = createFleet();
    for (const name of ["a", "b", "c"]) fleet.put("etcd", registration({ name, role: "MIX" }));
    expect(roles(fleet)).toEqual(["DECODE", "PREFILL", "PREFILL"]);
  });

  test("Fleet makes a MIX instance PREFILL beside a DECODE instance, though that is SUSPECT", async () => {
    const { fleet, probes } = createFleet();
    fleet.put("etcd", registration({ name: "a", role: "DECODE" }));
    fleet.loseLease("etcd", "a", null);
    await probes[0].end(false);
    fleet.put("etcd", registration({ name: "b", role: "MIX" }));
    expect(roles(fleet)).toEqual(["DECODE", "PREFILL"]);
  });

  test("Fleet moves a MIX instance where it is told to, and a refresh leaves it there", () => {
    const { fleet, told, logged } = createFleet();
    for (const name of ["a", "b"]) fleet.put("etcd", registration({ name, role: "MIX" }));
    fleet.setCurrentRole("b", "DECODE");
    expect(roles(fleet)).toEqual(["DECODE", "DECODE"]);
    fleet.put("etcd", registration({ name: "b", role: "MIX", dpSize: 2 }));
    expect(roles(fleet)).toEqual(["DECODE", "DECODE"]);
    expect(told).toHaveLength(4);
    fleet.setCurrentRole("b", "DECODE");
    expect(told).toHaveLength(4);
    expect(logged.slice(2)).toEqual(["info Instance works in another role: b"]);
  });

  test("Fleet begins anew with the role of a MIX instance that was replaced", () => {
    const { fleet } = createFleet();
    for (const name of ["a", "b"]) fleet.put("etcd", registration({ name, role: "MIX" }));
    fleet.put("etcd", registration({ name: "a", role: "MIX", incarnation: "process-b" }));
    fleet.put("etcd", registration({ name: "b", role: "MIX", incarnation: "process-b" }));
    expect(roles(fleet)).toEqual(["DECODE", "PREFILL"]);
  });

  test("Fleet moves no instance that is gone or no MIX", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a", role: "PREFILL" }));
    fleet.setCurrentRole("a", "DECODE");
    fleet.setCurrentRole("b", "DECODE");
    expect(roles(fleet)).toEqual(["PREFILL"]);
  });

  test("Fleet follows a registration whose role is another one", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a", role: "DECODE" }));
    fleet.put("etcd", registration({ name: "a", role: "MIX" }));
    expect(roles(fleet)).toEqual(["DECODE"]);
    fleet.put("etcd", registration({ name: "a", role: "PREFILL" }));
    expect(roles(fleet)).toEqual(["PREFILL"]);
  });
});

type Fleet = ReturnType<typeof createFleet>["fleet"];

function instanceOf(fleet: Fleet, name: string): Instance {
  const instance = fleet.instance(name);
  if (instance === null) throw new Error(`There is no instance ${name}`);
  return instance;
}

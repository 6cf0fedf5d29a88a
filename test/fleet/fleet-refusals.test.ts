import { describe, expect, test } from "bun:test";
import { createFleet } from "./fleet-scene.ts";
import { registration } from "./transition-states.ts";

const TAKEN = { refused: "registered through etcd already" };
const FULL = { refused: "the fleet has 2 instances already, as many as it takes" };

describe("Fleet: names that are taken", () => {
  test("Fleet refuses what another registry has already, and lists it", () => {
    const { fleet, logged } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    expect(fleet.put("http", registration({ name: "a", incarnation: "process-b" }))).toEqual(TAKEN);
    expect(fleet.refusals()).toEqual([{ registry: "http", name: "a", reason: TAKEN.refused }]);
    expect(fleet.instance("a")).toMatchObject({ registry: "etcd", registration: { incarnation: "process-a" } });
    expect(fleet.ignored["other-registry"]).toBe(1);
    fleet.put("http", registration({ name: "a", incarnation: "process-b" }));
    expect(logged.slice(1)).toEqual(["warn Instance is refused: a"]);
  });

  test("Fleet takes the claim when the name becomes free, and tells of who was there before", () => {
    const { fleet, told } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("http", registration({ name: "a", incarnation: "process-b" }));
    told.length = 0;
    fleet.remove("etcd", "a", null);
    expect(fleet.instance("a")).toMatchObject({ registry: "http", registration: { incarnation: "process-b" } });
    expect(fleet.refusals()).toEqual([]);
    expect(told).toEqual(["deregistered a;", "changed; a"]);
  });

  test("Fleet takes the claim as it was put last, when the time of who was there is over", async () => {
    const { fleet, clock, probes } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("http", registration({ name: "a", incarnation: "process-b" }));
    fleet.put("http", registration({ name: "a", incarnation: "process-c" }));
    fleet.loseLease("etcd", "a", null);
    await probes[0].end(false);
    clock.advance(15_000);
    fleet.tick();
    expect(fleet.instance("a")).toMatchObject({ state: "ACTIVE", registration: { incarnation: "process-c" } });
  });

  test("Fleet does not take a claim when its name's process is replaced by its own registry", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("http", registration({ name: "a" }));
    fleet.put("etcd", registration({ name: "a", incarnation: "process-b" }));
    expect(fleet.instance("a")?.registry).toBe("etcd");
    expect(fleet.refusals()).toHaveLength(1);
  });

  test("Fleet takes the claim that waited longest, and says through whom the other one is refused now", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("kubernetes", registration({ name: "a" }));
    fleet.put("http", registration({ name: "a" }));
    fleet.remove("etcd", "a", null);
    expect(fleet.instance("a")?.registry).toBe("kubernetes");
    expect(fleet.refusals()).toEqual([{ registry: "http", name: "a", reason: "registered through kubernetes already" }]);
  });

  test("Fleet looks at its claims when something has become free, and not at every event after that", () => {
    const { fleet } = createFleet();
    for (const name of ["a", "b"]) fleet.put("etcd", registration({ name }));
    fleet.put("http", registration({ name: "a" }));
    fleet.remove("etcd", "b", null);
    const { "other-registry": ignoredCount } = fleet.ignored;
    fleet.tick();
    fleet.put("etcd", registration({ name: "b" }));
    expect(fleet.ignored["other-registry"]).toBe(ignoredCount);
  });

  test.each([
    ["withdrawn", (fleet: Fleet) => fleet.withdrawRefusal("http", "a")],
    ["removed", (fleet: Fleet) => fleet.remove("http", "a", "process-b")],
    ["without its lease", (fleet: Fleet) => fleet.loseLease("http", "a", null)],
    ["replaced by what describes no instance", (fleet: Fleet) => fleet.refuse("http", "a", "dp_size is -1")],
  ])("Fleet does not take a claim that is %s", (_how, end) => {
    const { fleet, probes } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("http", registration({ name: "a", incarnation: "process-b" }));
    end(fleet);
    expect(fleet.instance("a")?.registry).toBe("etcd");
    fleet.remove("etcd", "a", null);
    expect(fleet.instance("a")).toBeNull();
    expect(probes).toEqual([]);
  });

  test("Fleet keeps a claim that another process's deletion speaks of", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.put("http", registration({ name: "a", incarnation: "process-b" }));
    expect(fleet.remove("http", "a", "process-x")).toBe(false);
    fleet.loseLease("http", "a", "process-x");
    expect(fleet.refusals()).toHaveLength(1);
  });
});

describe("Fleet: registrations that describe no instance", () => {
  test("Fleet removes the instance that the registry described before", () => {
    const { fleet, told } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    told.length = 0;
    fleet.refuse("etcd", "a", "type is 7");
    expect(fleet.instance("a")).toBeNull();
    expect(fleet.refusals()).toEqual([{ registry: "etcd", name: "a", reason: "type is 7" }]);
    expect(told).toEqual(["deregistered a;", "changed;"]);
  });

  test("Fleet leaves the instance of another registry alone", () => {
    const { fleet } = createFleet();
    fleet.put("etcd", registration({ name: "a" }));
    fleet.refuse("kubernetes", "a", "type is 7");
    expect(fleet.instance("a")?.registry).toBe("etcd");
    expect(fleet.ignored["other-registry"]).toBe(0);
  });

  test("Fleet forgets the refusal when the registration is right, and logs each reason once", () => {
    const { fleet, logged } = createFleet();
    fleet.refuse("etcd", "a", "type is 7");
    fleet.refuse("etcd", "a", "type is 7");
    fleet.refuse("etcd", "a", "type is 8");
    expect(logged).toEqual(["warn Instance is refused: a", "warn Instance is refused: a"]);
    expect(fleet.put("etcd", registration({ name: "a" }))).toBe("registered");
    expect(fleet.refusals()).toEqual([]);
  });

  test("Fleet lists refusals by name in code unit order, then by registry", () => {
    const { fleet } = createFleet();
    for (const name of ["b", "a:10", "a:9", "a"]) fleet.refuse("http", name, "wrong");
    fleet.refuse("etcd", "a", "wrong");
    const listed = fleet.refusals().map(({ name, registry }) => `${name} ${registry}`);
    expect(listed).toEqual(["a etcd", "a http", "a:10 http", "a:9 http", "b http"]);
  });
});

describe("Fleet: limits", () => {
  test("Fleet refuses what is beyond its limit, and takes it when there is room, in the order of claims", () => {
    const { fleet } = createFleet({ instancesMax: 2 });
    for (const name of ["a", "b"]) fleet.put("etcd", registration({ name }));
    for (const name of ["d", "c"]) expect(fleet.put("etcd", registration({ name }))).toEqual(FULL);
    expect(fleet.refusals().map(({ name }) => name)).toEqual(["c", "d"]);
    fleet.remove("etcd", "a", null);
    expect(fleet.instances().map(({ registration: { name } }) => name)).toEqual(["b", "d"]);
    expect(fleet.refusals().map(({ name }) => name)).toEqual(["c"]);
  });

  test("Fleet refreshes and replaces what is there when it is full", () => {
    const { fleet } = createFleet({ instancesMax: 2 });
    for (const name of ["a", "b"]) fleet.put("etcd", registration({ name }));
    expect(fleet.put("etcd", registration({ name: "a", dpSize: 2 }))).toBe("refreshed");
    expect(fleet.put("etcd", registration({ name: "a", incarnation: "process-b" }))).toBe("registered");
    expect(fleet.instances()).toHaveLength(2);
  });

  test("Fleet lists no more refusals than its limit, and lets the oldest go", () => {
    const { fleet } = createFleet({ instancesMax: 2 });
    for (const name of ["c", "a", "b"]) fleet.refuse("etcd", name, "wrong");
    expect(fleet.refusals().map(({ name }) => name)).toEqual(["a", "b"]);
  });
});

type Fleet = ReturnType<typeof createFleet>["fleet"];

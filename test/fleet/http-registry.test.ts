import { expect, test } from "bun:test";
import type { InstanceRegistration } from "#domain";
import { Fleet } from "../../src/fleet/fleet.ts";
import { HttpRegistry } from "../../src/fleet/http-registry.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { registrationOf } from "../support/instances.ts";

const HEARTBEAT_LEASE_MS = 3000;
const SUSPECT_TIMEOUT_MS = 15_000;

const A = "10.0.0.5:8000";
const B = "10.0.0.6:8000";

function vllm(name: string, changes: Partial<InstanceRegistration> = {}): InstanceRegistration {
  return registrationOf(name, { backend: "vllm", blockSize: 16, topic: "", ...changes });
}

/** A registry before a real fleet whose probes answer `isAlive`; `advance` lets seconds pass, each with its tick. */
function openRegistry({ isAlive = true, instancesMax = 10 } = {}) {
  const clock = new FakeClock();
  const probed: string[] = [];
  const gone: string[] = [];
  const logged: string[] = [];
  const logger = { info() {}, warn: (message: string) => void logged.push(message), error() {} };
  const prober = {
    probe: async (address: string) => {
      probed.push(address);
      return isAlive;
    },
  };
  const limits = {
    leaseLostHeartbeatTimeoutMs: HEARTBEAT_LEASE_MS,
    suspectTimeoutMs: SUSPECT_TIMEOUT_MS,
    loadReportMaxAgeMs: 10_000,
    instancesMax,
  };
  const fleet = new Fleet({ clock, limits, prober, logger });
  const conflicts = new Map<string, { endpoint: string; instanceName: string }>();
  const registry = new HttpRegistry({
    fleet,
    clock,
    conflictOf: ({ name }) => conflicts.get(name) ?? null,
    logger,
    heartbeatLeaseMs: HEARTBEAT_LEASE_MS,
  });
  fleet.listener = {
    deregistered(name) {
      gone.push(name);
      registry.deregistered(name);
    },
    changed() {},
  };
  async function advance(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1000);
      fleet.tick();
      registry.tick();
      // The probe's answer arrives.
      await Promise.resolve();
      await new Promise(setImmediate);
    }
  }
  const beat = (name: string, incarnation = "first") => registry.heartbeat({ name, incarnation, load: null, latency: null });
  const state = (name: string) => fleet.instance(name)?.state ?? null;
  return { advance, beat, conflicts, fleet, gone, logged, probed, registry, state };
}

test("HttpRegistry registers a process once, and refreshes it after that", () => {
  const { fleet, gone, registry } = openRegistry();
  expect(registry.register(vllm(A), null)).toEqual({ kind: "registered" });
  expect(registry.register(vllm(A, { blockSize: 32 }), null)).toEqual({ kind: "refreshed" });
  expect(fleet.instance(A)).toMatchObject({ registry: "http", state: "ACTIVE", registration: { blockSize: 32 } });
  expect(gone).toEqual([]);
});

test("HttpRegistry replaces a process by another incarnation of its name", async () => {
  const { advance, fleet, gone, registry, state } = openRegistry();
  registry.register(vllm(A), 60_000);
  expect(registry.register(vllm(A, { incarnation: "second" }), 5000)).toEqual({ kind: "registered" });
  expect(gone).toEqual([A]);
  expect(fleet.instance(A)?.registration.incarnation).toBe("second");
  await advance(5);
  expect(state(A)).toBe("LEASE_LOST");
});

test("HttpRegistry keeps a registration without a lease and without heartbeats until it is deleted", async () => {
  const { advance, fleet, probed, registry, state } = openRegistry();
  registry.register(vllm(A), null);
  await advance(3600);
  expect(state(A)).toBe("ACTIVE");
  expect(probed).toEqual([]);
  expect(registry.deregister(A, null)).toEqual({ kind: "deregistered" });
  expect(fleet.instances()).toEqual([]);
  expect(registry.deregister(A, null)).toEqual({ kind: "not-registered" });
});

test("HttpRegistry lets a lease lapse on time, once, and the instance is asked whether it lives", async () => {
  const { advance, beat, logged, probed, registry, state } = openRegistry();
  registry.register(vllm(A), 5000);
  await advance(4);
  expect(state(A)).toBe("ACTIVE");
  await advance(1);
  expect(probed).toEqual([A]);
  expect(state(A)).toBe("LEASE_LOST");
  for (let second = 0; second < 10; second++) {
    beat(A);
    await advance(1);
  }
  expect(state(A)).toBe("LEASE_LOST");
  expect(probed).toEqual([A]);
  expect(logged.filter((message) => message.includes("lapsed"))).toHaveLength(1);
});

test("HttpRegistry makes an instance SUSPECT that does not answer when its lease has lapsed, and forgets it in the end", async () => {
  const { advance, gone, registry, state } = openRegistry({ isAlive: false });
  registry.register(vllm(A), 5000);
  await advance(5);
  expect(state(A)).toBe("SUSPECT");
  await advance(SUSPECT_TIMEOUT_MS / 1000);
  expect(state(A)).toBeNull();
  expect(gone).toEqual([A]);
  expect(registry.register(vllm(A), null)).toEqual({ kind: "registered" });
  await advance(100);
  expect(state(A)).toBe("ACTIVE");
});

test.each([true, false])(
  "HttpRegistry renews a lease by registering again, also after it lapsed (alive: %p)",
  async (isAlive) => {
    const { advance, registry, state } = openRegistry({ isAlive });
    registry.register(vllm(A), 5000);
    await advance(4);
    registry.register(vllm(A), 5000);
    await advance(4);
    expect(state(A)).toBe("ACTIVE");
    await advance(1);
    expect(state(A)).toBe(isAlive ? "LEASE_LOST" : "SUSPECT");
    expect(registry.register(vllm(A), 5000)).toEqual({ kind: "refreshed" });
    await advance(4);
    expect(state(A)).toBe("ACTIVE");
    await advance(1);
    expect(state(A)).not.toBe("ACTIVE");
  },
);

test("HttpRegistry renews no lease that was asked for by a heartbeat", async () => {
  const { advance, beat, registry, state } = openRegistry();
  registry.register(vllm(A), 5000);
  for (let second = 0; second < 5; second++) {
    expect(beat(A)).toBe("accepted");
    await advance(1);
  }
  expect(state(A)).toBe("LEASE_LOST");
});

test("HttpRegistry takes the heartbeats of an instance without a lease for its lease", async () => {
  const { advance, beat, registry, state } = openRegistry({ isAlive: false });
  registry.register(vllm(A), null);
  for (let second = 0; second < 10; second++) {
    beat(A);
    await advance(1);
  }
  expect(state(A)).toBe("ACTIVE");
  await advance(1);
  expect(state(A)).toBe("ACTIVE");
  await advance(1);
  expect(state(A)).toBe("SUSPECT");
});

test.each([true, false])("HttpRegistry makes an instance ACTIVE again whose heartbeats return (alive: %p)", async (isAlive) => {
  const { advance, beat, gone, registry, state } = openRegistry({ isAlive });
  registry.register(vllm(A), null);
  beat(A);
  await advance(3);
  expect(state(A)).toBe(isAlive ? "LEASE_LOST" : "SUSPECT");
  expect(beat(A, "second")).toBe("stale-incarnation");
  expect(state(A)).not.toBe("ACTIVE");
  expect(beat(A)).toBe("accepted");
  expect(state(A)).toBe("ACTIVE");
  await advance(2);
  expect(state(A)).toBe("ACTIVE");
  await advance(1);
  expect(state(A)).not.toBe("ACTIVE");
  expect(gone).toEqual([]);
});

test("HttpRegistry takes heartbeats for the lease still when such an instance registers again, but not of its successor", async () => {
  const { advance, beat, registry, state } = openRegistry();
  registry.register(vllm(A), null);
  beat(A);
  registry.register(vllm(A), null);
  await advance(3);
  expect(state(A)).toBe("LEASE_LOST");
  registry.register(vllm(A, { incarnation: "second" }), null);
  await advance(60);
  expect(state(A)).toBe("ACTIVE");
});

test("HttpRegistry keeps no lease of an instance that changes to a lease of its own and back", async () => {
  const { advance, registry, state } = openRegistry();
  registry.register(vllm(A), 5000);
  registry.register(vllm(A), null);
  await advance(60);
  expect(state(A)).toBe("ACTIVE");
});

test("HttpRegistry passes heartbeats of other registries' instances on, and renews nothing by them", async () => {
  const { advance, beat, fleet, state } = openRegistry();
  fleet.put("etcd", vllm(A));
  expect(beat(A)).toBe("accepted");
  expect(beat(B)).toBe("not-registered");
  await advance(60);
  expect(state(A)).toBe("ACTIVE");
});

test("HttpRegistry leaves alone what another registry holds, and claims nothing", () => {
  const { fleet, registry } = openRegistry();
  fleet.put("etcd", vllm(A));
  expect(registry.register(vllm(A), null)).toEqual({ kind: "held-elsewhere", registry: "etcd" });
  expect(registry.deregister(A, null)).toEqual({ kind: "held-elsewhere", registry: "etcd" });
  expect(fleet.refusals()).toEqual([]);
  fleet.remove("etcd", A, null);
  expect(fleet.instances()).toEqual([]);
});

test("HttpRegistry leaves a name to the registry that waits for it", async () => {
  const { advance, fleet, registry, state } = openRegistry();
  registry.register(vllm(A), 5000);
  fleet.put("etcd", vllm(A, { incarnation: "second" }));
  registry.deregister(A, "first");
  expect(fleet.instance(A)?.registry).toBe("etcd");
  await advance(10);
  expect(state(A)).toBe("ACTIVE");
});

test("HttpRegistry refuses an endpoint of another instance, and keeps what was registered before", async () => {
  const { advance, conflicts, fleet, registry, state } = openRegistry();
  registry.register(vllm(A), 5000);
  const conflict = { endpoint: "tcp://10.0.0.6:5557", instanceName: B };
  conflicts.set(A, conflict);
  expect(registry.register(vllm(A, { incarnation: "second" }), 60_000)).toEqual({
    kind: "endpoint-taken",
    ...conflict,
  });
  expect(fleet.instance(A)?.registration.incarnation).toBe("first");
  await advance(5);
  expect(state(A)).toBe("LEASE_LOST");
});

test("HttpRegistry takes no more instances than the fleet, and waits for no place", () => {
  const { fleet, registry } = openRegistry({ instancesMax: 1 });
  registry.register(vllm(A), null);
  const outcome = registry.register(vllm(B), null);
  expect(outcome).toMatchObject({ kind: "refused", reason: expect.stringContaining("1 instances") });
  expect(fleet.refusals()).toEqual([]);
  registry.deregister(A, null);
  expect(fleet.instances()).toEqual([]);
  expect(registry.register(vllm(B), null)).toEqual({ kind: "registered" });
});

test("HttpRegistry deletes the process that is named, and no other", () => {
  const { fleet, registry } = openRegistry();
  registry.register(vllm(A, { incarnation: "second" }), null);
  expect(registry.deregister(A, "first")).toEqual({ kind: "other-incarnation", incarnation: "second" });
  expect(registry.deregister(A, "")).toEqual({ kind: "other-incarnation", incarnation: "second" });
  expect(fleet.instances()).toHaveLength(1);
  expect(registry.deregister(A, "second")).toEqual({ kind: "deregistered" });
  expect(fleet.instances()).toEqual([]);
});

test("HttpRegistry forgets the lease of an instance that was deleted", async () => {
  const { advance, fleet, logged, probed, registry } = openRegistry();
  registry.register(vllm(A), 5000);
  registry.deregister(A, null);
  await advance(10);
  expect(probed).toEqual([]);
  expect(logged.filter((message) => message.includes("lapsed"))).toEqual([]);
  expect(fleet.instances()).toEqual([]);
});

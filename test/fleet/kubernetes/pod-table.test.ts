import { describe, expect, test } from "bun:test";
import { Fleet } from "../../../src/fleet/fleet.ts";
import { readPod } from "../../../src/fleet/kubernetes/pod.ts";
import { PodTable } from "../../../src/fleet/kubernetes/pod-table.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { QUIET } from "../../support/quiet-logger.ts";
import { type PodTraits, podWith } from "./pods.ts";
import { RecordingRegistrar } from "./recording-registrar.ts";

function scene(...pods: PodTraits[]) {
  const registrar = new RecordingRegistrar();
  const table = new PodTable(registrar);
  const update = (traits: PodTraits) => {
    table.update(readPod(podWith(traits)));
    return registrar.take();
  };
  const remove = (uid: string) => {
    table.delete(uid);
    return registrar.take();
  };
  const replace = (...traits: PodTraits[]) => {
    table.replace(traits.map((pod) => readPod(podWith(pod))));
    return registrar.take();
  };
  for (const pod of pods) update(pod);
  return { registrar, table, update, remove, replace };
}

const wrong = { annotations: { "warmpath.io/port": "x" } };

describe("PodTable", () => {
  test("says nothing of a pod that was never there", () => {
    const { update, remove, table } = scene();
    expect([update({ isReady: false }), remove("uid-a"), table.size]).toEqual([[], [], 0]);
  });

  test("puts a pod that is there, and again when it changes", () => {
    const { update } = scene();
    expect(update({})).toEqual(["put 10.0.0.5:8000 uid-a"]);
    expect(update({ annotations: { "warmpath.io/role": "DECODE" } })).toEqual(["put 10.0.0.5:8000 uid-a"]);
  });

  test("lets an unready pod lose its lease once, and puts it when it is ready again", () => {
    const { update } = scene({});
    expect(update({ isReady: false })).toEqual(["loseLease 10.0.0.5:8000 uid-a"]);
    expect(update({ isReady: false, isDeleted: true })).toEqual([]);
    expect(update({})).toEqual(["put 10.0.0.5:8000 uid-a"]);
    expect(update({ isDeleted: true })).toEqual(["loseLease 10.0.0.5:8000 uid-a"]);
  });

  test("removes a deleted pod, ready or not", () => {
    expect(scene({}).remove("uid-a")).toEqual(["remove 10.0.0.5:8000 uid-a"]);
    expect(scene({}, { isReady: false }).remove("uid-a")).toEqual(["remove 10.0.0.5:8000 uid-a"]);
  });

  test("removes a pod once", () => {
    const { remove } = scene({});
    expect([remove("uid-a").length, remove("uid-a").length]).toEqual([1, 0]);
  });

  test("removes an instance whose pod takes another port", () => {
    const { update } = scene({});
    const calls = update({ annotations: { "warmpath.io/port": "81" } });
    expect(calls).toEqual(["remove 10.0.0.5:8000 uid-a", "put 10.0.0.5:81 uid-a"]);
  });

  test("refuses a pod that describes no instance, under the pod's own name, until it does", () => {
    const { update, registrar } = scene();
    expect(update(wrong)).toEqual(["refuse llm/a"]);
    expect(registrar.refusals.get("llm/a")).toContain('Cannot register pod "llm/a"');
    expect(update({})).toEqual(["withdrawRefusal llm/a", "put 10.0.0.5:8000 uid-a"]);
  });

  test("removes an instance that is described no more", () => {
    expect(scene({}).update(wrong)).toEqual(["remove 10.0.0.5:8000 uid-a", "refuse llm/a"]);
  });

  test("withdraws the refusal of a pod that is away or deleted", () => {
    expect(scene(wrong).update({ isReady: false })).toEqual(["withdrawRefusal llm/a"]);
    expect(scene(wrong).remove("uid-a")).toEqual(["withdrawRefusal llm/a"]);
  });
});

describe("PodTable with two pods of one address", () => {
  test("refuses the second, however often it is seen, and names the first", () => {
    const { update, registrar } = scene({});
    expect(update({ name: "b" })).toEqual(["refuse llm/b"]);
    expect(update({ name: "b" })).toEqual(["refuse llm/b"]);
    expect(registrar.refusals.get("llm/b")).toBe(
      'Cannot register pod "llm/b": its address 10.0.0.5:8000 is that of pod "llm/a", one of its own is needed',
    );
  });

  test("lets the second in when the first is deleted", () => {
    const { remove } = scene({}, { name: "b" });
    expect(remove("uid-a")).toEqual(["remove 10.0.0.5:8000 uid-a", "withdrawRefusal llm/b", "put 10.0.0.5:8000 uid-b"]);
  });

  test("lets the second in when the first is unready, and the first waits when it is back", () => {
    const { update } = scene({}, { name: "b" });
    expect(update({ isReady: false })).toContain("put 10.0.0.5:8000 uid-b");
    expect(update({})).toEqual(["refuse llm/a"]);
  });

  test("lets the second in at once when the first has lost its lease, the old process gone first", () => {
    const { update, remove } = scene({}, { isDeleted: true });
    expect(update({ name: "b" })).toEqual(["remove 10.0.0.5:8000 uid-a", "put 10.0.0.5:8000 uid-b"]);
    expect(remove("uid-a")).toEqual([]);
  });

  test("lets in the one that has waited longest", () => {
    const { remove } = scene({}, { name: "b" }, { name: "c" });
    expect(remove("uid-a")).toContain("put 10.0.0.5:8000 uid-b");
    expect(remove("uid-b")).toContain("put 10.0.0.5:8000 uid-c");
  });

  test("does not let in one that has moved to another address meanwhile", () => {
    const { update, remove } = scene({}, { name: "b" });
    expect(update({ name: "b", podIP: "10.0.0.6" })).toEqual(["withdrawRefusal llm/b", "put 10.0.0.6:8000 uid-b"]);
    expect(remove("uid-a")).toEqual(["remove 10.0.0.5:8000 uid-a"]);
  });
});

describe("PodTable given a whole list", () => {
  test("removes what is not on it before it puts what is new", () => {
    const { replace } = scene({}, { name: "b", podIP: "10.0.0.6" });
    expect(replace({ name: "a", uid: "uid-a2" }, { name: "b", podIP: "10.0.0.6" })).toEqual([
      "remove 10.0.0.5:8000 uid-a",
      "put 10.0.0.5:8000 uid-a2",
      "put 10.0.0.6:8000 uid-b",
    ]);
  });

  test("lets what became unready meanwhile lose its lease, whichever comes first on the list", () => {
    const { replace } = scene({}, { name: "b" });
    expect(replace({ name: "b" }, { isReady: false })).toContain("put 10.0.0.5:8000 uid-b");
  });

  test("withdraws refusals of pods that are gone", () => {
    expect(scene(wrong).replace()).toEqual(["withdrawRefusal llm/a"]);
  });
});

describe("PodTable beside another registry", () => {
  const clock = new FakeClock();
  const limits = { leaseLostHeartbeatTimeoutMs: 3000, suspectTimeoutMs: 15_000, loadReportMaxAgeMs: 10_000 };

  test("leaves it the instances that it has, and takes one over when it lets go while the pod is there", () => {
    const fleet = new Fleet({ clock, limits, prober: { probe: async () => false }, logger: QUIET });
    const table = new PodTable(fleet);
    const { presence } = readPod(podWith());
    if (presence.kind !== "there") throw new Error("The pod is away");
    fleet.put("etcd", presence.registration);
    table.update(readPod(podWith()));
    expect(fleet.refusals()).toHaveLength(1);
    table.update(readPod(podWith({ isReady: false })));
    expect(fleet.refusals()).toEqual([]);
    table.update(readPod(podWith()));
    fleet.remove("etcd", "10.0.0.5:8000", null);
    expect(fleet.instances().map(({ registry, state }) => [registry, state])).toEqual([["kubernetes", "ACTIVE"]]);
    table.delete("uid-a");
    expect([fleet.instances(), fleet.refusals()]).toEqual([[], []]);
  });
});

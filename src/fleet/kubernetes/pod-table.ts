/**
 * The pods that the fleet was told about, and the difference that a new reading of one makes. Only one pod holds an instance's
 * name: pods on their hosts' network can share an address, and of two that are there at once the later is refused until the
 * earlier leaves. Refusals are under the pod's `namespace/name`, which is never the name of an instance.
 */

import type { InstanceRegistration } from "#domain";
import type { FleetRegistrar } from "../registry.ts";
import type { PodReading } from "./pod.ts";

type KnownPod = {
  podName: string;
} /** It was put under this name; where another registry has that already, the fleet keeps it as a claim. */ & (
  | { kind: "holder"; instanceName: string; hasLease: boolean }
  /** Its annotations are wrong. */
  | { kind: "refused" }
  /** Its name is another pod's. */
  | { kind: "waiting"; registration: InstanceRegistration }
);

export class PodTable {
  readonly #registrar: FleetRegistrar;
  /** By uid, in the order of their coming. */
  readonly #pods = new Map<string, KnownPod>();
  /** Instance name to the uid of its holder. */
  readonly #holders = new Map<string, string>();

  constructor(registrar: FleetRegistrar) {
    this.#registrar = registrar;
  }

  get size(): number {
    return this.#pods.size;
  }

  /** These are all pods that there are. */
  replace(readings: readonly PodReading[]): void {
    const uids = new Set(readings.map(({ uid }) => uid));
    for (const uid of [...this.#pods.keys()]) {
      if (!uids.has(uid)) this.delete(uid);
    }
    for (const reading of readings) this.update(reading);
  }

  update({ uid, podName, presence }: PodReading): void {
    switch (presence.kind) {
      case "there":
        this.#admit(uid, podName, presence.registration);
        return;
      case "wrong":
        if (this.#pods.get(uid)?.kind === "holder") this.#release(uid);
        this.#pods.set(uid, { kind: "refused", podName });
        this.#registrar.refuse("kubernetes", podName, presence.reason);
        return;
      case "away":
        this.#loseLease(uid);
        return;
    }
  }

  /** The pod no longer exists, or the selector no longer matches it. */
  delete(uid: string): void {
    this.#release(uid);
  }

  #admit(uid: string, podName: string, registration: InstanceRegistration): void {
    const { name } = registration;
    const known = this.#pods.get(uid);
    if (known?.kind === "holder" && known.instanceName !== name) this.#release(uid);
    const holderUid = this.#holders.get(name) ?? uid;
    if (holderUid !== uid) {
      const holder = this.#pods.get(holderUid);
      if (holder?.kind === "holder" && holder.hasLease) {
        this.#pods.set(uid, { kind: "waiting", podName, registration });
        const reason = `its address ${name} is that of pod ${JSON.stringify(holder.podName)}, one of its own is needed`;
        this.#registrar.refuse("kubernetes", podName, `Cannot register pod ${JSON.stringify(podName)}: ${reason}`);
        return;
      }
      this.#drop(holderUid);
    }
    if (known !== undefined && known.kind !== "holder") this.#drop(uid);
    this.#put(uid, podName, registration);
  }

  #put(uid: string, podName: string, registration: InstanceRegistration): void {
    this.#registrar.put("kubernetes", registration);
    this.#holders.set(registration.name, uid);
    this.#pods.set(uid, { kind: "holder", podName, instanceName: registration.name, hasLease: true });
  }

  /** A pod that held a name is asked whether it lives, once; of any other nothing is left. */
  #loseLease(uid: string): void {
    const known = this.#pods.get(uid);
    if (known?.kind !== "holder") {
      this.#release(uid);
      return;
    }
    if (!known.hasLease) return;
    known.hasLease = false;
    this.#registrar.loseLease("kubernetes", known.instanceName, uid);
    const successor = this.#waitingFor(known.instanceName);
    if (successor === null) return;
    this.#drop(uid);
    this.#promote(successor);
  }

  /** Takes back all that was told of the pod; a name that it held goes to the next that waits for it. */
  #release(uid: string): void {
    const dropped = this.#drop(uid);
    if (dropped?.kind !== "holder") return;
    const successor = this.#waitingFor(dropped.instanceName);
    if (successor !== null) this.#promote(successor);
  }

  #drop(uid: string): KnownPod | null {
    const known = this.#pods.get(uid);
    if (known === undefined) return null;
    this.#pods.delete(uid);
    if (known.kind !== "holder") {
      this.#registrar.withdrawRefusal("kubernetes", known.podName);
      return known;
    }
    this.#holders.delete(known.instanceName);
    this.#registrar.remove("kubernetes", known.instanceName, uid);
    return known;
  }

  #waitingFor(name: string): { uid: string; podName: string; registration: InstanceRegistration } | null {
    for (const [uid, pod] of this.#pods) {
      if (pod.kind === "waiting" && pod.registration.name === name) return { uid, ...pod };
    }
    return null;
  }

  #promote({ uid, podName, registration }: { uid: string; podName: string; registration: InstanceRegistration }): void {
    this.#drop(uid);
    this.#put(uid, podName, registration);
  }
}

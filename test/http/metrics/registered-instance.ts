/** An instance registered over etcd, as simple as can be. */

import type { InstanceRegistration, Role } from "#domain";
import type { Fleet } from "#fleet";

export function registerInstance(fleet: Pick<Fleet, "put">, name: string, role: Role = "DEFAULT"): InstanceRegistration {
  const registration: InstanceRegistration = {
    name,
    address: name,
    role,
    backend: "vllm",
    incarnation: "1",
    dpSize: 1,
    blockSize: 16,
    hashSeed: 1024,
    topic: null,
    curveServerKey: null,
    eventEndpoints: null,
    replayEndpoints: null,
    ttftSamples: [],
    tpotSamples: [],
  };
  fleet.put("etcd", registration);
  return registration;
}

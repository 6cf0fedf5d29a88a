/** Instances as simple as can be: everything has a default, each test says what it is about. */

import type { InstanceRegistration } from "#domain";
import type { Instance } from "#fleet";

/** An xllm DEFAULT instance of one rank at the address that is its name, which tells nothing else. */
export function registrationOf(name: string, fields: Partial<InstanceRegistration> = {}): InstanceRegistration {
  return {
    name,
    address: name,
    role: "DEFAULT",
    backend: "xllm",
    incarnation: "first",
    dpSize: 1,
    blockSize: null,
    hashSeed: 1024,
    topic: null,
    curveServerKey: null,
    eventEndpoints: null,
    replayEndpoints: null,
    ttftSamples: [],
    tpotSamples: [],
    ...fields,
  };
}

/** An instance that is ACTIVE, registered over HTTP, and has reported nothing. */
export function instanceOf(registration: InstanceRegistration, fields: Partial<Omit<Instance, "registration">> = {}): Instance {
  return {
    registration,
    registry: "http",
    state: "ACTIVE",
    stateSinceMs: 0,
    currentRole: "DEFAULT",
    loads: [],
    latency: null,
    ...fields,
  };
}

/** Instances and rules as the tests of subscriptions need them: everything has a default, each test names what it is about. */

import type { CurrentRole, InstanceRegistration, StreamDescription } from "#domain";
import type { Instance, InstanceStateName } from "../../../src/fleet/instance.ts";
import { instanceOf, registrationOf } from "../../support/instances.ts";

/** An xllm DEFAULT instance of one rank at the address that is its name. */
export function register(name: string, fields: Partial<InstanceRegistration> = {}): InstanceRegistration {
  return registrationOf(name, { incarnation: "k3Jx", ...fields });
}

export interface InstanceFields extends Partial<InstanceRegistration> {
  state?: InstanceStateName;
  currentRole?: CurrentRole;
}

export function instance(name: string, { state = "ACTIVE", currentRole = "DEFAULT", ...fields }: InstanceFields = {}): Instance {
  return instanceOf(register(name, fields), { registry: "etcd", state, currentRole });
}

/** As the rule of offsets gives it for an instance of which nothing else is registered. */
export function streamOf(name: string, fields: Partial<StreamDescription> = {}): StreamDescription {
  const colon = name.lastIndexOf(":");
  const [host, port, dpRank] = [name.slice(0, colon), Number(name.slice(colon + 1)), fields.dpRank ?? 0];
  return {
    instanceName: name,
    dpRank,
    engine: "xllm",
    blockSize: 128,
    hashSeed: 1024,
    endpoint: `tcp://${host}:${port + 10_000 + dpRank}`,
    replayEndpoint: `tcp://${host}:${port + 30_000 + dpRank}`,
    topic: "xllm-kv",
    curveServerKey: null,
    incarnation: "k3Jx",
    ...fields,
  };
}

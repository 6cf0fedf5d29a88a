/** An instance registered over etcd, as simple as can be. */

import type { InstanceRegistration, Role } from "#domain";
import type { Fleet } from "#fleet";
import { registrationOf } from "../../support/instances.ts";

export function registerInstance(fleet: Pick<Fleet, "put">, name: string, role: Role = "DEFAULT"): InstanceRegistration {
  const registration = registrationOf(name, { role, backend: "vllm", incarnation: "1", blockSize: 16 });
  fleet.put("etcd", registration);
  return registration;
}

/** What is logged of instances: each change of state that an operator acts on, and each refusal whose reason is new. */

import type { Logger } from "#base";
import type { CurrentRole } from "#domain";
import type { Refusal } from "./instance.ts";
import type { DeregisterReason, InstanceEvent, InstanceState } from "./state.ts";

export class FleetLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  registered({ registration, registry }: InstanceState): void {
    const { name, address, role, backend, incarnation } = registration;
    this.#logger.info("Instance is registered", { instance: name, registry, address, role, backend, incarnation });
  }

  deregistered({ registration: { name, incarnation }, kind }: InstanceState, reason: DeregisterReason): void {
    this.#logger.warn("Instance is deregistered", { instance: name, reason, state: kind, incarnation });
  }

  /** The same process in another state. */
  moved(before: InstanceState, after: InstanceState, event: InstanceEvent): void {
    if (before.kind === after.kind) return;
    const { name } = after.registration;
    switch (after.kind) {
      case "ACTIVE":
        this.#logger.info("Instance has its lease again", { instance: name, was: before.kind });
        break;
      case "LEASE_LOST":
        this.#logger.warn("Instance lives without a lease", { instance: name, was: before.kind, sign: event.type });
        break;
      case "SUSPECT":
        this.#logger.warn("Instance is suspect", { instance: name, was: before.kind, reason: suspicion(event) });
        break;
    }
  }

  roleChanged(name: string, role: CurrentRole): void {
    this.#logger.info("Instance works in another role", { instance: name, role });
  }

  refused({ registry, name, reason }: Refusal): void {
    this.#logger.warn("Instance is refused", { instance: name, registry, reason });
  }
}

function suspicion({ type }: InstanceEvent): string {
  return type === "probe-failed" ? "no lease, and /health does not answer 200" : "no lease, and no heartbeat";
}

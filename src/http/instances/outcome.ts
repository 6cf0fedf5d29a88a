/** What the registry decided, as refusals that a client reads. */

import type { DeregisterOutcome, RegisterOutcome } from "#fleet";
import { Problem } from "../problem.ts";

/** How the instance `name` was registered; throws a problem when it was not: 409, or 503 when the fleet takes no further one. */
export function requireRegistered(name: string, outcome: RegisterOutcome): "registered" | "refreshed" {
  const failed = `Cannot register instance ${JSON.stringify(name)}`;
  switch (outcome.kind) {
    case "registered":
    case "refreshed":
      return outcome.kind;
    case "endpoint-taken": {
      const owner = `instance ${JSON.stringify(outcome.instanceName)}`;
      throw new Problem("conflict", {
        detail: `${failed}: endpoint ${JSON.stringify(outcome.endpoint)} belongs to ${owner}, an endpoint of its own is needed`,
      });
    }
    case "held-elsewhere":
      throw new Problem("conflict", {
        detail: `${failed}: it is registered through ${outcome.registry}, where it must be deleted first`,
      });
    case "refused":
      throw new Problem("fleet-full", { detail: `${failed}: ${outcome.reason}`, headers: { "retry-after": "1" } });
  }
}

/** Throws a problem when the instance `name` was not taken away: 404 or 409. */
export function requireDeregistered(name: string, outcome: DeregisterOutcome): void {
  const failed = `Cannot delete instance ${JSON.stringify(name)}`;
  switch (outcome.kind) {
    case "deregistered":
      return;
    case "not-registered":
      throw new Problem("not-found", { detail: `${failed}: it is not registered` });
    case "held-elsewhere":
      throw new Problem("conflict", {
        detail: `${failed}: it is registered through ${outcome.registry}, it must be deleted there`,
      });
    case "other-incarnation":
      throw new Problem("conflict", {
        detail: `${failed}: found incarnation ${JSON.stringify(outcome.incarnation)}, the one that is named is needed`,
      });
  }
}

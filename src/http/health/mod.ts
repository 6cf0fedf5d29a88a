/** The probes of an orchestrator: `GET /healthz` says that the process lives, `GET /readyz` that it can serve. */

import { Elysia } from "elysia";
import type { AppDependencies } from "../dependencies.ts";
import { requireServing } from "../readiness.ts";
import { aliveResponses, readyResponses } from "./schema.ts";

export function createHealthRoutes({ readiness }: Pick<AppDependencies, "readiness">) {
  return new Elysia({ tags: ["health"] })
    .get("/healthz", () => ({ ok: true as const }), { response: aliveResponses, detail: { summary: "The process is alive" } })
    .get(
      "/readyz",
      () => {
        requireServing(readiness);
        return { ready: true as const };
      },
      { response: readyResponses, detail: { summary: "Queries can be answered and requests be routed; else why not" } },
    );
}

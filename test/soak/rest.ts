/** The rest after a churn: until the last instance is gone, and some time more, so that whatever is let go later is let go. */

import { eventually } from "../support/eventually.ts";
import { hugeRequests } from "./requests.ts";
import type { ServiceProcess } from "./service-process.ts";

/** The last registration has lapsed, its instance was found SUSPECT, and it was that long enough. */
const EMPTY_TIMEOUT_MS = 30_000;

/** Leases of whoever is gone have ended by then, and heartbeats that stand for one. */
const LEASES_END_MS = 4000;

interface Instance {
  name: string;
  registry: string;
  state: string;
}

/** Resolves `seconds` after the last instance is gone. Throws with those that stay. */
export async function rest(service: ServiceProcess, seconds: number): Promise<void> {
  const leasesEndMs = performance.now() + LEASES_END_MS;
  let left = "";
  const isEmpty = async () => {
    const { instances, refused } = await readFleet(service);
    if (performance.now() > leasesEndMs) await deleteUnleased(service, instances);
    left = [...instances, ...refused].map((entry) => JSON.stringify(entry)).join("\n");
    return left === "";
  };
  await eventually("no instance is left", isEmpty, EMPTY_TIMEOUT_MS).catch((cause: Error) => {
    throw new Error(`${cause.message}\n${left}`, { cause });
  });
  await Bun.sleep(seconds * 1000);
}

/** Whether there is room for the largest prompt: bodies that were broken off have given back theirs. The status of its answer. */
export async function askLargest({ url }: ServiceProcess): Promise<number> {
  const [{ path, type, body }] = hugeRequests();
  const headers = { "content-type": type ?? "" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: body ?? "", keepalive: false });
  await answer.arrayBuffer();
  return answer.status;
}

async function readFleet({ url }: ServiceProcess): Promise<{ instances: Instance[]; refused: unknown[] }> {
  const answer = await fetch(`${url}/v1/instances`, { keepalive: false });
  return (await answer.json()) as { instances: Instance[]; refused: unknown[] };
}

/**
 * Engines that were killed between their registration and their first heartbeat have no lease: they stay until an operator deletes
 * them. Whoever is not ACTIVE is on its way out.
 */
async function deleteUnleased({ url }: ServiceProcess, instances: readonly Instance[]): Promise<void> {
  for (const { name, registry, state } of instances) {
    if (registry !== "http" || state !== "ACTIVE") continue;
    await fetch(`${url}/v1/instances/${encodeURIComponent(name)}`, { method: "DELETE", keepalive: false });
  }
}

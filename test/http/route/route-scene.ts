/** A fake app with idle instances, and what its route answers. */

import type { BatchAnswer, DecisionAnswer } from "../../../src/http/route/schema.ts";
import { createFakeApp } from "../fake-directory.ts";

export const A = "10.0.0.5:8000";
export const B = "10.0.0.6:8000";
export const ROUTE = "/v1/route";

export type FakeApp = ReturnType<typeof createFakeApp>;

/** Registers the instance, and reports its load unless that is null. */
export async function join(
  { send }: FakeApp,
  name: string,
  registration: object = {},
  waiting: number | null = 0,
): Promise<void> {
  await send("POST", "/v1/instances", { name, engine: "xllm", ...registration });
  if (waiting === null) return;
  await send("POST", "/v1/internal/heartbeat", {
    name,
    load_metrics: { waiting_requests_num: waiting, gpu_cache_usage_perc: 0.5 },
  });
}

/** The app with these instances in role DEFAULT. */
export async function createRoutedApp(
  names: string[] = [A, B],
  options: Parameters<typeof createFakeApp>[0] = {},
): Promise<FakeApp> {
  const app = createFakeApp(options);
  for (const name of names) await join(app, name);
  return app;
}

/** Sends a body of any form. */
export function postBytes({ app }: FakeApp, body: Uint8Array, type: string, query = ""): Promise<Response> {
  const headers = { "content-type": type };
  return app.handle(new Request(`http://localhost${ROUTE}${query}`, { method: "POST", body: new Uint8Array(body), headers }));
}

export async function readDecision(response: Response): Promise<DecisionAnswer> {
  if (response.status !== 200) throw new Error(`Cannot read a decision: ${response.status} ${await response.text()}`);
  return (await response.json()) as DecisionAnswer;
}

export async function readDecisions(response: Response): Promise<BatchAnswer["decisions"]> {
  if (response.status !== 200) throw new Error(`Cannot read decisions: ${response.status} ${await response.text()}`);
  return ((await response.json()) as BatchAnswer).decisions;
}

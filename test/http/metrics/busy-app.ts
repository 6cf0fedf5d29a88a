/** An app in which everything that is measured has happened. */

import { registerProcessMetrics } from "#metrics";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { registerInstance } from "./registered-instance.ts";
import { streamReport } from "./stream-report.ts";

/** One app with one of everything, in which everything has happened once. */
export async function createBusyApp() {
  const fake = createFakeApp({ routing: { trackInFlight: true } });
  const { metrics } = fake.dependencies;
  registerProcessMetrics(metrics).stop();
  registerInstance(fake.fleet, "10.0.0.5:8000");
  fake.fleet.heartbeat({
    name: "10.0.0.5:8000",
    incarnation: "1",
    load: { waitingRequests: 1, cacheUsage: 0.5 },
    latency: null,
  });
  const match = streamMatch("10.0.0.5:8000", 0);
  fake.directory.answer = [match];
  fake.reports.push(streamReport(match.stream));
  await fake.send("POST", "/v1/route", { token_ids: [1, 2, 3] });
  return fake;
}

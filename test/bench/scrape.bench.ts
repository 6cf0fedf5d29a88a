/** What a scrape of a large fleet costs the main thread, which answers queries meanwhile. */

import { createFakeApp, streamMatch } from "../http/fake-directory.ts";
import { registerInstance } from "../http/metrics/registered-instance.ts";
import { streamReport } from "../http/metrics/stream-report.ts";
import { Checksum } from "./checksum.ts";
import { medianFigure, quantile } from "./figures.ts";
import { grouped } from "./grouped.ts";
import { type Answer, atMost, defineGroup, type Figure } from "./question.ts";

/** The longest that a query may wait for it. */
const WANTED = atMost(20);

interface Fixture {
  app: ReturnType<typeof createFakeApp>["app"];
  scrapes: number;
}

export const scrape = defineGroup<Fixture>({
  open: async ({ streams, registeredInstances, fleetRefreshes: scrapes }) => ({
    app: createLargeApp(streams, registeredInstances),
    scrapes,
  }),
  close: async () => {},
  questions: ({ streams, registeredInstances }) => [
    { what: `scrape of ${streams} streams and ${grouped(registeredInstances)} instances, main thread`, measure },
  ],
});

function createLargeApp(streams: number, instances: number): Fixture["app"] {
  const { app, directory, fleet, reports } = createFakeApp();
  for (let n = 0; n < instances; n++) {
    const { name } = registerInstance(fleet, `10.0.${n >> 8}.${n & 255}:8000`);
    fleet.heartbeat({ name, incarnation: "1", load: { waitingRequests: n % 7, cacheUsage: 0.5 }, latency: null });
  }
  const matches = fleet
    .instances()
    .slice(0, streams)
    .map(({ registration }) => streamMatch(registration.name, 0));
  directory.answer = matches;
  for (const { stream } of matches) reports.push(streamReport(stream));
  return app;
}

async function measure({ app, scrapes }: Fixture): Promise<Answer> {
  const durations: number[] = [];
  const checksum = new Checksum();
  for (let n = 0; n < scrapes; n++) {
    const startMs = performance.now();
    const response = await app.handle(new Request("http://localhost/metrics"));
    const text = await response.text();
    durations.push(performance.now() - startMs);
    checksum.add(text.split("\n").filter((line) => line.startsWith("warmpath_instance_waiting_requests{")).length);
  }
  const longest: Figure = { label: "longest", value: quantile(durations, 1), unit: "ms", target: null };
  return { figures: [medianFigure(durations, "ms", WANTED), longest], checksum: checksum.toString() };
}

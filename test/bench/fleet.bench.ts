/** What a large fleet in etcd costs the main thread, which answers queries meanwhile. */

import { locateEtcd } from "../support/etcd-server.ts";
import { Checksum } from "./checksum.ts";
import { measureLatency, medianFigure, quantile } from "./figures.ts";
import { grouped } from "./grouped.ts";
import { type Answer, atMost, defineGroup, type Figure, type Question } from "./question.ts";
import { RegisteredFleet } from "./registered-fleet.ts";
import type { Scale } from "./scale.ts";
import { watchThread } from "./thread-time.ts";

/** A query waits this long at most. */
const WANTED = atMost(5);

interface Fixture {
  registered: RegisteredFleet;
  scale: Scale;
}

const etcdBinary = await locateEtcd();

export const fleet = defineGroup<Fixture>({
  open: async (scale) => ({ registered: await RegisteredFleet.start(etcdBinary as string, scale.registeredInstances), scale }),
  close: ({ registered }) => registered.stop(),
  questions,
});

function questions({ registeredInstances }: Scale): Question<Fixture>[] {
  if (etcdBinary === null) return [];
  const instances = `${grouped(registeredInstances)} registered instances`;
  return [
    { what: `discovery refresh over ${instances}, main thread`, measure: async (fixture) => measureRefreshes(fixture) },
    { what: `listing etcd anew, ${instances}, nothing changed, main thread`, measure: measureListings },
    { what: `one etcd change among ${instances}, main thread`, measure: measureChanges },
  ];
}

function measureRefreshes({ registered, scale }: Fixture): Answer {
  const durations: number[] = [];
  for (let n = 0; n < scale.fleetRefreshes; n++) {
    const startMs = performance.now();
    registered.refresh();
    durations.push(performance.now() - startMs);
  }
  const longest: Figure = { label: "longest", value: quantile(durations, 1), unit: "ms", target: null };
  return { figures: [medianFigure(durations, "ms", WANTED), longest], checksum: checksumOf(registered) };
}

/** Page by page, between which queries are answered: what they wait for is the longest piece. */
async function measureListings({ registered, scale }: Fixture): Promise<Answer> {
  const longest: number[] = [];
  const sums: number[] = [];
  for (let n = 0; n < scale.fleetRefreshes; n++) {
    const { longestMs, sumMs } = await watchThread(() => registered.relist());
    longest.push(longestMs);
    sums.push(sumMs);
  }
  const median = (label: string, samples: number[], target: Figure["target"]): Figure => ({
    ...medianFigure(samples, "ms", target),
    label,
  });
  const figures = [
    median("longest piece, median", longest, WANTED),
    { label: "longest piece, p90", value: quantile(longest, 0.9), unit: "ms", target: null } as const,
    median("all pieces, median", sums, null),
  ];
  return { figures, checksum: checksumOf(registered) };
}

async function measureChanges({ registered, scale }: Fixture): Promise<Answer> {
  const before = checksumOf(registered);
  let incarnation = 0;
  const figures = await measureLatency(
    () => registered.changeOf(incarnation % scale.registeredInstances, `process ${++incarnation}`),
    (change) => registered.apply(change),
    scale.matchMs,
  );
  return { figures, checksum: before };
}

function checksumOf({ fleet: { instances }, streamsAdded }: RegisteredFleet): string {
  return new Checksum().add(instances.length, streamsAdded).toString();
}

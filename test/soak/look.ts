/** One look at a service that rests, and the comparison of two. */

import { type Allowance, mayGrow, NOTHING, type Quantity, type Unit } from "./comparison.ts";
import { type ExpositionFigures, readExposition } from "./exposition-figures.ts";
import type { HeapCount } from "./heap-probe.ts";
import { type ProcessFigures, readProcess } from "./process-figures.ts";
import type { ServiceProcess } from "./service-process.ts";

export interface Look {
  process: ProcessFigures;
  exposition: ExpositionFigures;
  /** Null for an executable. */
  heap: HeapCount | null;
  wakeUpsPerSecond: number;
  cpuSecondsPerSecond: number;
}

/** How long wake-ups are counted. */
const COUNTING_MS = 2000;

/** How long memory that was given back takes to be taken back by the system. */
const RETURN_MS = 500;

/** Looks at a service that nobody asks anything. */
export async function lookAtRest(service: ServiceProcess): Promise<Look> {
  const heap = await service.countHeap();
  await Bun.sleep(RETURN_MS);
  const earlier = readProcess(service.pid);
  await Bun.sleep(COUNTING_MS);
  const later = readProcess(service.pid);
  const perSecond = (count: number) => count / (COUNTING_MS / 1000);
  return {
    process: later,
    exposition: await scrape(service),
    heap,
    wakeUpsPerSecond: perSecond(later.wakeUps - earlier.wakeUps),
    cpuSecondsPerSecond: perSecond(later.cpuSeconds - earlier.cpuSeconds),
  };
}

export async function scrape({ url }: ServiceProcess): Promise<ExpositionFigures> {
  const answer = await fetch(`${url}/metrics`, { keepalive: false });
  return readExposition(await answer.text());
}

/** How strictly two looks are compared: what a longer churn reaches that a shorter warm-up did not. */
export interface Strictness {
  memoryShare: number;
  memoryBytes: number;
  heapShare: number;
  closedSeries: number;
  /** Whether the warm-up is long enough to show what is usual under way; where it is not, only the rests are compared. */
  isWarmUpSteady: boolean;
}

const POOLS = "threads of pools that come when there is work";
const KEPT_ALIVE = "connections that are kept for the next request";

export function compareLooks(before: Look, after: Look, strictness: Strictness): Quantity[] {
  const quantity = (name: string, unit: Unit, allowance: Allowance, read: (look: Look) => number | null): Quantity => {
    return { name, unit, allowance, before: read(before), after: read(after) };
  };
  const { memoryShare, memoryBytes, heapShare, closedSeries } = strictness;
  const memory = mayGrow(memoryShare, memoryBytes, "the allocators' high water");
  const heap = mayGrow(heapShare, 0, "compiled code and caches of bounded size");
  const tcp = (state: string) => (look: Look) => look.process.tcpSockets[state] ?? 0;
  const otherKinds = new Set([before, after].flatMap((look) => Object.keys(look.process.otherFiles)));
  return [
    quantity("resident memory", "bytes", memory, (look) => look.process.rssBytes),
    quantity("anonymous memory", "bytes", memory, (look) => look.process.anonymousBytes),
    quantity("main thread's heap", "bytes", heap, (look) => look.heap?.bytes ?? null),
    quantity("objects on it", "count", heap, (look) => look.heap?.objects ?? null),
    quantity("timers", "count", mayGrow(0, 3, "waits under way"), (look) => look.heap?.timers ?? null),
    quantity("promises", "count", mayGrow(0.1, 16, "requests to registries under way"), (look) => look.heap?.promises ?? null),
    quantity("threads", "count", mayGrow(0, 4, POOLS), (look) => look.process.threads),
    quantity("open files", "count", mayGrow(0, 2, KEPT_ALIVE), (look) => look.process.openFiles),
    ...["ESTABLISHED", "LISTEN", "CLOSE_WAIT", "SYN_SENT"].map((state) =>
      quantity(`TCP sockets, ${state}`, "count", state === "ESTABLISHED" ? mayGrow(0, 2, KEPT_ALIVE) : NOTHING, tcp(state)),
    ),
    ...[...otherKinds]
      .toSorted()
      .map((kind) => quantity(`open files: ${kind}`, "count", NOTHING, (look) => look.process.otherFiles[kind] ?? 0)),
    quantity("wake-ups at rest", "per second", mayGrow(0.3, 30, "the system's scheduling"), (look) => look.wakeUpsPerSecond),
    quantity("processor time at rest", "per second", mayGrow(0.5, 0.05, "the same"), (look) => look.cpuSecondsPerSecond),
    quantity("metric series of instances", "count", NOTHING, (look) => look.exposition.instanceSeries),
    quantity(
      "other metric series",
      "count",
      mayGrow(0, closedSeries, "rare statuses and reasons, of closed sets"),
      (look) => look.exposition.otherSeries,
    ),
    quantity("blocks in the index", "count", NOTHING, (look) => look.exposition.indexEntries),
    quantity("index, in use", "bytes", NOTHING, (look) => look.exposition.indexUsedBytes),
    quantity("index, reserved", "bytes", memory, (look) => look.exposition.indexReservedBytes),
    quantity("requests and prefixes in the policy's books", "count", NOTHING, (look) => look.exposition.bookEntries),
    quantity("ends of the ingest thread", "count", NOTHING, (look) => look.exposition.ingestCrashes),
  ];
}

/** Of the whole soak: memory that is taken again and again has long been taken after a minute. */
export const STRICT: Strictness = {
  memoryShare: 0.1,
  memoryBytes: 16 * 2 ** 20,
  heapShare: 0.1,
  closedSeries: 10,
  isWarmUpSteady: true,
};

/**
 * After a few seconds of warm-up much happens for the first time; on a busy machine some statuses do. A path or an id that became a
 * label would make hundreds of series.
 */
export const LOOSE: Strictness = {
  memoryShare: 0.35,
  memoryBytes: 64 * 2 ** 20,
  heapShare: 0.35,
  closedSeries: 120,
  isWarmUpSteady: false,
};

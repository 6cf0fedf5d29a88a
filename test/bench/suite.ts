/** All benchmarks in the order of the report. */

import { clear } from "./clear.bench.ts";
import { fleet } from "./fleet.bench.ts";
import { fleetChange } from "./fleet-change.bench.ts";
import { http } from "./http.bench.ts";
import { ingest } from "./ingest.bench.ts";
import { matchOfLargeBlocks, matchOfSmallBlocks } from "./match.bench.ts";
import { memory } from "./memory.bench.ts";
import type { BenchGroup, Row } from "./question.ts";
import { route, routeOverHttp } from "./route.bench.ts";
import type { Scale } from "./scale.ts";
import { scrape } from "./scrape.bench.ts";
import { start } from "./start.bench.ts";

const GROUPS: readonly BenchGroup[] = [
  matchOfLargeBlocks,
  matchOfSmallBlocks,
  ingest,
  http,
  route,
  routeOverHttp,
  scrape,
  memory,
  clear,
  start,
  fleetChange,
  fleet,
];

/** Names of all rows at this scale. */
export function rowNames(scale: Scale): string[] {
  return GROUPS.flatMap((group) => group.names(scale));
}

/** Answers the questions whose names contain `only`, each when it is known. */
export async function* runBench(scale: Scale, only = ""): AsyncGenerator<Row, void> {
  for (const group of GROUPS) yield* group.run(scale, (what) => what.includes(only));
}

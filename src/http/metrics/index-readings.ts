/** How full the index is, as metrics. */

import { TIERS } from "#domain";
import { METRICS, type MetricsRegistry } from "#metrics";
import type { AppDependencies } from "../dependencies.ts";
import type { StreamsAtScrape } from "./stream-readings.ts";
import { blocksOn } from "./tier-blocks.ts";

export function registerIndexMetrics(
  metrics: MetricsRegistry,
  { directory }: Pick<AppDependencies, "directory">,
  streams: () => StreamsAtScrape,
): void {
  metrics.readOne(METRICS.indexEntries, () => directory.figures.entries);
  metrics.read(METRICS.indexBlocks, () =>
    TIERS.map((tier) => ({
      labels: { tier },
      value: streams().matches.reduce((sum, match) => sum + blocksOn(match, tier), 0),
    })),
  );
  metrics.readOne(METRICS.indexUsedBytes, () => directory.figures.bytesInUse);
  metrics.readOne(METRICS.indexLimitBytes, () => directory.figures.bytesMax);
  metrics.readOne(METRICS.indexReservedBytes, () => directory.figures.bytesReserved);
  metrics.readOne(METRICS.indexLoad, () => directory.figures.loadFactor);
}

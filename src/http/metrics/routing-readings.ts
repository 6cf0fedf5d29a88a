/** The policy's books, as metrics; decisions are counted as they are made (decisions.ts). */

import { METRICS, type MetricsRegistry } from "#metrics";
import type { AppDependencies } from "../dependencies.ts";

export function registerRoutingMetrics(metrics: MetricsRegistry, { routerBooks }: Pick<AppDependencies, "routerBooks">): void {
  metrics.read(METRICS.inFlight, () => {
    const { prefillRequests, decodeRequests } = routerBooks.books;
    return [
      { labels: { side: "prefill" }, value: prefillRequests },
      { labels: { side: "decode" }, value: decodeRequests },
    ];
  });
  metrics.readOne(METRICS.predictedPrefixes, () => routerBooks.books.predictedPrefixes);
  metrics.readOne(METRICS.forgottenRequests, () => routerBooks.counts.forgottenRequests);
  metrics.readOne(METRICS.unknownSteps, () => routerBooks.counts.unknownSteps);
}

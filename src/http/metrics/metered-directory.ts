/**
 * The directory with a watch beside it. Matches of an empty prompt are not timed: they only ask for the streams' states, as a
 * scrape does.
 */

import type { Namespace, StreamMatch } from "#domain";
import type { IndexFigures } from "#index";
import { METRICS, type MetricsRegistry } from "#metrics";
import type { KvDirectory } from "../dependencies.ts";

export class MeteredDirectory implements KvDirectory {
  readonly #directory: KvDirectory;
  readonly #duration: { observe(seconds: number): void };
  readonly #busy: { inc(): void };

  constructor(directory: KvDirectory, metrics: MetricsRegistry) {
    this.#directory = directory;
    this.#duration = metrics.histogram(METRICS.matchDuration).labels();
    this.#busy = metrics.counter(METRICS.busyMatches);
  }

  get figures(): IndexFigures {
    return this.#directory.figures;
  }

  get tokens(): Uint32Array {
    return this.#directory.tokens;
  }

  match(tokenCount: number, instanceNames: ReadonlySet<string> | null, namespace: Namespace | null): StreamMatch[] | "busy" {
    if (tokenCount === 0) return this.#directory.match(tokenCount, instanceNames, namespace);
    const beganAtMs = performance.now();
    const matches = this.#directory.match(tokenCount, instanceNames, namespace);
    if (matches === "busy") this.#busy.inc();
    else this.#duration.observe((performance.now() - beganAtMs) / 1000);
    return matches;
  }
}

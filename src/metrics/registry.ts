/**
 * The metrics of one service. What is counted elsewhere is read when someone asks, so that no number is kept twice and the series
 * of whatever is gone are gone with it; only what nobody else keeps is counted here.
 */

import { Counter, Gauge, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";
import type { Metric } from "./catalogue.ts";

export const EXPOSITION_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** One sample: objects of labels may be shared between samples. */
export interface Reading<Label extends string = string> {
  readonly labels: Readonly<Record<Label, string | number>>;
  readonly value: number;
}

export class MetricsRegistry {
  readonly #registry = new Registry();

  /** Names of what is exported. */
  get names(): string[] {
    return this.#registry.getMetricsAsArray().map(({ name }) => name);
  }

  /** `read` gives the metric's samples of the moment, at each scrape; without labels that is one. Waits for nothing. */
  read<Label extends string>(metric: Metric<Label>, read: () => readonly Reading<Label>[]): void {
    this.#registry.registerMetric(new ReadMetric(metric, read));
  }

  /** As `read`, for a metric without labels. */
  readOne(metric: Metric<never>, read: () => number): void {
    this.read(metric, () => [{ labels: {}, value: read() }]);
  }

  /** Whoever counts keeps `labels(…)` at hand: finding it costs more than counting. */
  counter<Label extends string>({ name, help, labels }: Metric<Label>): Counter<Label> {
    return new Counter({ name, help, labelNames: labels, registers: [this.#registry] });
  }

  histogram<Label extends string>({ name, help, labels, buckets }: Metric<Label>): Histogram<Label> {
    return new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [this.#registry] });
  }

  /**
   * Prometheus' text format. All `read`s run before this returns its promise: what they read is of one moment, and of this
   * scrape, however many are under way.
   */
  exposition(): Promise<string> {
    return this.#registry.metrics();
  }
}

/** Hands its samples over as they are: through a gauge's own table they would cost as much again as their text. */
class ReadMetric<Label extends string> extends Gauge<Label> {
  readonly #metric: Metric<Label>;
  readonly #read: () => readonly Reading<Label>[];

  constructor(metric: Metric<Label>, read: () => readonly Reading<Label>[]) {
    super({ name: metric.name, help: metric.help, labelNames: metric.labels, registers: [] });
    this.#metric = metric;
    this.#read = read;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<Label>>> {
    const { name, help, kind } = this.#metric;
    // prom-client declares numbers for types, and writes what stands here.
    return { name, help, type: kind, aggregator: "sum", values: this.#read() } as unknown as MetricObjectWithValues<
      MetricValue<Label>
    >;
  }
}

/** Prometheus' text format (version 0.0.4): one block a metric, one line a sample. */

import type { Metric } from "./catalogue.ts";

export interface Sample {
  metric: Metric;
  /** Values of the metric's labels, in their order. */
  labels: readonly (string | number)[];
  value: number;
}

/** Samples of one metric stand together under its help and type, in the order in which they come. */
export function formatExposition(samples: readonly Sample[]): string {
  const blocks = new Map<Metric, string[]>();
  for (const sample of samples) {
    const lines = blocks.get(sample.metric) ?? [];
    lines.push(formatSample(sample));
    blocks.set(sample.metric, lines);
  }
  return [...blocks]
    .map(([{ name, kind, help }, lines]) => `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join("")}`)
    .join("");
}

function formatSample({ metric, labels, value }: Sample): string {
  const pairs = metric.labels.map((label, index) => `${label}="${escapeLabel(String(labels[index]))}"`);
  return `${metric.name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}\n`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

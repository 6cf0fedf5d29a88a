/**
 * Metrics: the catalogue of what is measured, and the registry that writes it in Prometheus' text format. A leaf: beside the process
 * itself it knows names, not where numbers come from.
 */

export { METRICS, type Metric, metricsTable } from "./catalogue.ts";
export { type ProcessWatch, registerProcessMetrics } from "./process.ts";
export { EXPOSITION_TYPE, MetricsRegistry, type Reading } from "./registry.ts";

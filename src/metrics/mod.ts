/**
 * Metrics: the catalogue of what is measured, and Prometheus' text format. A leaf: it knows names, not where numbers come from.
 */

export { METRICS, type Metric, metricsTable } from "./catalogue.ts";
export { formatExposition, type Sample } from "./exposition.ts";

/** What an expression in PromQL speaks of, as far as the checks of dashboards and alerts need it. */

import { METRICS, type Metric } from "#metrics";

/** What Prometheus adds to every series when it scrapes, and to what it makes of alerts. */
const SCRAPE_LABELS = ["instance", "job"];

const CATALOGUE: ReadonlyMap<string, Metric> = new Map(Object.values<Metric>(METRICS).map((metric) => [metric.name, metric]));

/** Names of metrics of ours, or that pretend to be, with the labels of the selector behind each. */
const SELECTOR = /\b((?:warmpath|process)_[a-zA-Z0-9_]+)(?:\{([^}]*)\})?/g;

/** What is wrong with the expression, and with the labels that its legend or its annotations name; nothing when all is well. */
export function findFaults(expression: string, labelsNamed: readonly string[] = []): string[] {
  const faults: string[] = [];
  const known = new Set(SCRAPE_LABELS);
  const names = [...expression.matchAll(SELECTOR)];
  if (names.length === 0) faults.push(`no metric in ${expression}`);
  for (const [, name, selector = ""] of names) {
    const metric = metricOf(name);
    if (metric === null) {
      faults.push(`${name} is not in the catalogue`);
      continue;
    }
    const labels = new Set([...SCRAPE_LABELS, ...metric.labels, ...(name.endsWith("_bucket") ? ["le"] : [])]);
    for (const label of labels) known.add(label);
    for (const [, label] of selector.matchAll(/([a-zA-Z_]+)\s*(?:=~|!~|!=|=)/g)) {
      if (!labels.has(label)) faults.push(`${name} has no label ${label}`);
    }
  }
  const grouped = [...expression.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
    list.split(/[\s,]+/),
  );
  for (const label of [...grouped, ...labelsNamed]) {
    if (label !== "" && !known.has(label)) faults.push(`no metric of ${expression} has the label ${label}`);
  }
  return faults;
}

/** Names of the catalogue's metrics in the expression. */
export function metricsIn(expression: string): string[] {
  return [...expression.matchAll(SELECTOR)].flatMap(([, name]) => metricOf(name)?.name ?? []);
}

/** Labels that a legend or an annotation takes over: `{{rank}}`, `{{ $labels.rank }}`. */
export function labelsInTemplate(template: string): string[] {
  const legend = [...template.matchAll(/\{\{\s*([a-z_]+)\s*\}\}/g)];
  const annotation = [...template.matchAll(/\$labels\.([a-z_]+)/g)];
  return [...legend, ...annotation].map(([, label]) => label);
}

/** A histogram's series have three names, none of which is its own. */
function metricOf(name: string): Metric | null {
  const metric = CATALOGUE.get(name);
  if (metric !== undefined) return metric.kind === "histogram" ? null : metric;
  const histogram = CATALOGUE.get(name.replace(/_(bucket|sum|count)$/, ""));
  return histogram?.kind === "histogram" ? histogram : null;
}

/** The comparison as a person reads it: every figure in one table, a short one for the README, and where CAR is not the better choice. */

import { grouped } from "../bench/grouped.ts";
import { type Arrivals, type Result, type Run, UTILISATIONS } from "./comparison.ts";
import type { CacheFigures, Quantiles, Spread } from "./figures.ts";
import { ROUTER_NAMES, usesIndex } from "./routers.ts";
import { TRACE_NAMES } from "./trace.ts";

const BEST = "best possible";

/** Of queues, spread, time and digest the bound has none. */
const UNBOUNDED = Array.from({ length: 9 }, () => "");

const QUANTILES = ["p50", "p90", "p99"] as const satisfies readonly (keyof Quantiles)[];

/** Everything, as a Markdown document. */
export function formatReport(results: readonly Result[]): string {
  return [
    "# Results",
    "Written by `bun run bench:fleet --write`; README.md says what was simulated, and what the columns mean.",
    "## In short",
    formatSummary(results),
    ...TRACE_NAMES.map((trace) => `![${trace}](plots/${trace}.svg)`),
    "## Where CAR is slower than a router that knows nothing of caches",
    "Medians of the seeds, and the least and most.",
    formatLosses(results),
    "## All figures",
    `${formatResults(results)}\n`,
  ].join("\n\n");
}

/** All figures of all runs, medians over the seeds. */
export function formatResults(results: readonly Result[]): string {
  const headings = [
    "trace",
    "arrivals",
    "instances",
    "router",
    "cached",
    "of the best",
    "TTFT p50",
    "p90",
    "p99 (ms)",
    "p50 over the best",
    "queue mean",
    "p99",
    "requests: CV",
    "max/mean",
    "unused",
    "computed tokens: CV",
    "max/mean",
    "time prefilling",
    "digest",
  ];
  const rows = results.flatMap((result) => [
    [...describe(result), BEST, ...cacheCells(result.best, result.best), ...UNBOUNDED],
    ...result.runs.map((run) => [...describe(result), ...runCells(run, result.best)]),
  ]);
  return formatTable(headings, rows);
}

/** A row for each setting of the lower load: what each router reached. */
export function formatSummary(results: readonly Result[]): string {
  const routers = [...ROUTER_NAMES, BEST].join(" / ");
  const headings = ["trace", "instances", `cached tokens, %: ${routers}`, "TTFT p50, s: the same", "TTFT p99, s: the same"];
  const rows = results
    .filter(({ setting: { arrivals } }) => arrivals.kind === "scaled" && arrivals.utilisation === UTILISATIONS[0])
    .map((result) => {
      const { setting, runs, best } = result;
      const each = (read: (figures: CacheFigures) => string) =>
        [...runs.map(({ figures }) => figures), best].map(read).join(" / ");
      return [
        setting.trace,
        String(setting.instances),
        each(({ cachedShare }) => (cachedShare * 100).toFixed(0)),
        each(({ ttftMs }) => seconds(ttftMs.p50)),
        each(({ ttftMs }) => seconds(ttftMs.p99)),
      ];
    });
  return formatTable(headings, rows);
}

/** A line for each time to the first token in which a CAR is behind a router that knows nothing of caches. */
export function formatLosses(results: readonly Result[]): string {
  return results.flatMap(losses).join("\n");
}

function losses({ setting, runs }: Result): string[] {
  const aware = runs.filter(({ router }) => usesIndex(router));
  const unaware = runs.filter(({ router }) => !usesIndex(router));
  const where = `${setting.trace}, ${setting.instances} instances, ${arrivalsName(setting.arrivals)}`;
  return aware.flatMap((run) =>
    unaware.flatMap((other) =>
      QUANTILES.filter((quantile) => run.figures.ttftMs[quantile] > other.figures.ttftMs[quantile]).map(
        (quantile) => `- ${where}: ${quantile} ${timeOf(run, quantile)}, ${timeOf(other, quantile)}`,
      ),
    ),
  );
}

/** `CAR 1,212 ms (1,003 to 1,240)`: the median over the seeds, and the least and most. */
function timeOf({ router, figures, bySeed }: Run, quantile: keyof Quantiles): string {
  const times = bySeed.map(({ ttftMs }) => ttftMs[quantile]);
  return `${router} ${grouped(figures.ttftMs[quantile])} ms (${grouped(Math.min(...times))} to ${grouped(Math.max(...times))})`;
}

function describe({ setting: { trace, instances, arrivals }, speed }: Result): string[] {
  return [trace, `${arrivalsName(arrivals)}, ${speed.toFixed(2)} × recorded`, String(instances)];
}

function arrivalsName(arrivals: Arrivals): string {
  switch (arrivals.kind) {
    case "scaled":
      return `load ${arrivals.utilisation}`;
    case "spread":
      return `load ${arrivals.utilisation} spread out`;
    case "recorded":
      return "as recorded";
  }
}

function runCells({ router, figures }: Run, best: CacheFigures): string[] {
  const { queueMean, queueP99, requestSpread, unusedInstances, computedSpread, prefillShare, digest } = figures;
  return [
    router,
    ...cacheCells(figures, best),
    queueMean.toFixed(2),
    String(queueP99),
    ...spreadCells(requestSpread),
    String(unusedInstances),
    ...spreadCells(computedSpread),
    percentage(prefillShare),
    digest,
  ];
}

function cacheCells({ cachedShare, ttftMs }: CacheFigures, best: CacheFigures): string[] {
  const { p50, p90, p99 }: Quantiles = ttftMs;
  const over = (p50 / best.ttftMs.p50).toFixed(1);
  return [
    percentage(cachedShare),
    percentage(cachedShare / best.cachedShare),
    grouped(p50),
    grouped(p90),
    grouped(p99),
    `× ${over}`,
  ];
}

function spreadCells({ variation, maxOverMean }: Spread): string[] {
  return [variation.toFixed(2), maxOverMean.toFixed(2)];
}

function percentage(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(ms < 1000 ? 2 : 1);
}

function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((cells) => cells[column].length)));
  const format = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [headings, widths.map((width) => "-".repeat(width)), ...rows].map(format).join("\n");
}

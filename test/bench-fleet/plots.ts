/** The comparison as pictures: for each trace what was cached, how long answers took and how long queues were, by size of the fleet. */

import { grouped } from "../bench/grouped.ts";
import type { Result, Run } from "./comparison.ts";
import type { CacheFigures, RunFigures } from "./figures.ts";
import { drawLineCharts, type LineChart } from "./line-charts.ts";
import { ROUTER_NAMES } from "./routers.ts";
import { TRACE_NAMES } from "./trace.ts";

export interface Plot {
  fileName: string;
  svg: string;
}

interface Quantity {
  title: string;
  kind: LineChart["kind"];
  format: (value: number) => string;
  ofRun: (figures: RunFigures) => number;
  ofBest: (best: CacheFigures) => number;
}

const QUANTITIES: readonly Quantity[] = [
  {
    title: "prompt tokens cached",
    kind: "linear",
    format: (value) => `${Math.round(value * 100)} %`,
    ofRun: ({ cachedShare }) => cachedShare,
    ofBest: ({ cachedShare }) => cachedShare,
  },
  ttft("p50"),
  ttft("p99"),
  {
    title: "mean queue of an instance",
    kind: "linear",
    format: String,
    ofRun: ({ queueMean }) => queueMean,
    ofBest: () => 0,
  },
];

/** One for each trace of which there are scaled runs; a row of charts for each utilisation. */
export function drawPlots(results: readonly Result[]): Plot[] {
  return TRACE_NAMES.flatMap((trace) => {
    const rows = [...Map.groupBy(results, (result) => utilisationOf(result, trace))].flatMap(([utilisation, group]) =>
      utilisation === null ? [] : [QUANTITIES.map((quantity) => chart(quantity, utilisation, group))],
    );
    if (rows.length === 0) return [];
    return [{ fileName: `${trace}.svg`, svg: drawLineCharts(`Mooncake's ${trace} trace`, "instances", rows) }];
  });
}

/** Null for what is not drawn for this trace. */
function utilisationOf({ setting: { trace, arrivals } }: Result, wanted: string): number | null {
  return trace === wanted && arrivals.kind === "scaled" ? arrivals.utilisation : null;
}

function chart({ title, kind, format, ofRun, ofBest }: Quantity, utilisation: number, results: readonly Result[]): LineChart {
  const runOf = ({ runs }: Result, router: string) => runs.find((run): run is Run => run.router === router);
  const lines = ROUTER_NAMES.map((name) => ({
    name,
    values: results.flatMap((result) => runOf(result, name) ?? []).map(({ figures }) => ofRun(figures)),
  }));
  const best = { name: "best possible", values: results.map((result) => ofBest(result.best)) };
  const columns = results.map(({ setting }) => String(setting.instances));
  return { title: `${title}, load ${utilisation}`, kind, columns, lines: [...lines, best], format };
}

function ttft(quantile: "p50" | "p99"): Quantity {
  return {
    title: `TTFT ${quantile}`,
    kind: "logarithmic",
    format: (ms) => (ms < 1000 ? `${grouped(ms)} ms` : `${grouped(ms / 1000)} s`),
    ofRun: ({ ttftMs }) => ttftMs[quantile],
    ofBest: ({ ttftMs }) => ttftMs[quantile],
  };
}

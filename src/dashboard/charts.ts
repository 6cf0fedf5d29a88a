/** Hit share and decisions of up to ten minutes, drawn by uPlot in the page's colours. */

import uPlot from "uplot";
import type { DecisionSample } from "#http";
import { byId } from "./element.ts";
import { formatCount, formatShare } from "./format.ts";
import { hitShare, type Model, NOTHING, SAMPLE_MS } from "./model.ts";

const HEIGHT = 168;

/** The tick marks of the time axis: whole minutes. */
const MINUTE_STEPS = [60, 120, 300];

type Columns = [number[], ...(number | null)[][]];

export class Charts {
  readonly #share: Chart;
  readonly #rate: Chart;

  constructor() {
    this.#share = new Chart(byId("share-chart"), {
      // The whole first, what is drawn over it after.
      series: [filled("disk"), filled("host"), filled("device")],
      scale: { range: [0, 1] },
      format: (value) => `${Math.round(value * 100)} %`,
    });
    this.#rate = new Chart(byId("rate-chart"), {
      series: [filled("muted"), filled("bad")],
      scale: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] },
      format: (value) => (value < 10 && value % 1 !== 0 ? value.toFixed(1) : formatCount(value)),
    });
  }

  update(model: Model): void {
    const samples = evenly(model);
    const atSeconds = samples.map(({ at_ms: atMs }) => atMs / 1000);
    this.#share.draw([atSeconds, ...stackedShares(samples)]);
    const perSecond = (count: number) => (count * 1000) / SAMPLE_MS;
    this.#rate.draw([
      atSeconds,
      samples.map(({ decisions }) => perSecond(decisions)),
      samples.map(({ refused }) => (refused === 0 ? null : perSecond(refused))),
    ]);
    this.#describe(model);
  }

  /** The colours have changed. */
  redraw(): void {
    this.#share.redraw();
    this.#rate.redraw();
  }

  #describe(model: Model): void {
    const minute = model.sumOver(60_000);
    const share = hitShare(minute);
    const shareText =
      share === null ? "no prompt was matched in the last minute" : `${formatShare(share)} of prompt tokens, last minute`;
    const refused = minute.refused > 0 ? `, ${formatCount(minute.refused)} refused` : "";
    const rateText = `${(minute.decisions / 60).toFixed(1)} on average, last minute${refused}`;
    byId("share-now").textContent = shareText;
    byId("rate-now").textContent = rateText;
    byId("share-chart").setAttribute("aria-label", `Hit share over time: ${shareText}`);
    byId("rate-chart").setAttribute("aria-label", `Decisions a second over time: ${rateText}`);
  }
}

interface ChartOptions {
  series: uPlot.Series[];
  scale: uPlot.Scale;
  format: (value: number) => string;
}

class Chart {
  readonly #plot: uPlot;

  constructor(target: HTMLElement, { series, scale, format }: ChartOptions) {
    const axis = {
      stroke: () => colour("muted"),
      grid: { stroke: () => colour("line"), width: 1 },
      ticks: { show: false },
      font: axisFont(),
    };
    this.#plot = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT,
        padding: [8, 18, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: true }, y: scale },
        axes: [
          { ...axis, grid: { show: false }, incrs: MINUTE_STEPS, space: 64, size: 26, gap: 6, values: "{HH}:{mm}" },
          { ...axis, size: 44, gap: 6, space: 36, values: (_plot, ticks) => ticks.map(format) },
        ],
        series: [{}, ...series],
      },
      [[], ...series.map(() => [])],
      target,
    );
    new ResizeObserver(() => this.#plot.setSize({ width: target.clientWidth, height: HEIGHT })).observe(target);
  }

  draw(columns: Columns): void {
    this.#plot.setData(columns as uPlot.AlignedData);
  }

  redraw(): void {
    this.#plot.redraw(false, true);
  }
}

function filled(name: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [1, 100], gap: 0 });
  return { fill: () => colour(name), stroke: () => colour(name), width: 0, points: { show: false }, ...(paths && { paths }) };
}

/** Every whole span of the time that is shown, also those in which nothing was decided. */
function evenly(model: Model): DecisionSample[] {
  const nowMs = model.last?.at_ms ?? 0;
  const lastMs = nowMs - (nowMs % SAMPLE_MS) - SAMPLE_MS;
  const known = new Map(model.samples.map((sample) => [sample.at_ms, sample]));
  const count = Math.ceil(model.historyMs / SAMPLE_MS);
  return Array.from({ length: count }, (_, position) => {
    const atMs = lastMs - (count - 1 - position) * SAMPLE_MS;
    return known.get(atMs) ?? { ...NOTHING, at_ms: atMs };
  });
}

/** All tiers; of them those on device or host; of them those on device. Null where nothing was matched. */
function stackedShares(samples: readonly DecisionSample[]): (number | null)[][] {
  const share = (sample: DecisionSample, tokens: number) => (sample.prompt_tokens === 0 ? null : tokens / sample.prompt_tokens);
  return [
    samples.map(hitShare),
    samples.map((sample) => share(sample, sample.device_hit_tokens + sample.host_only_hit_tokens)),
    samples.map((sample) => share(sample, sample.device_hit_tokens)),
  ];
}

/** A colour of the style sheet, as it is now. */
function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function axisFont(): string {
  return `11px ${getComputedStyle(document.body).fontFamily}`;
}

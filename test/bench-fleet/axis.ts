/** A chart's vertical axis: which values get a line, and where between them a value lies. */

export type AxisKind = "linear" | "logarithmic";

export interface Axis {
  /** Ascending; the first is the bottom, the last the top. At least two. */
  readonly ticks: readonly number[];
  /** 0 at the bottom, 1 at the top. */
  place(value: number): number;
}

/** Lines that a linear axis has at most, beyond its bottom. */
const LINES_MAX = 5;

/** Steps between lines within a power of ten, and the values that get a line on a logarithmic axis. */
const ROUND = [1, 2, 5];

/** An axis with room for all values: a linear one begins at 0, a logarithmic one needs values above 0. */
export function axisFor(values: readonly number[], kind: AxisKind): Axis {
  switch (kind) {
    case "linear":
      return linearAxis(Math.max(...values));
    case "logarithmic":
      return logarithmicAxis(Math.min(...values), Math.max(...values));
  }
}

function linearAxis(max: number): Axis {
  const top = max > 0 ? max : 1;
  const power = 10 ** Math.floor(Math.log10(top / LINES_MAX));
  const step = power * ([...ROUND, 10].find((round) => round * power * LINES_MAX >= top) ?? 10);
  const lines = Math.ceil(top / step);
  const ticks = Array.from({ length: lines + 1 }, (_, line) => rounded(line * step));
  return { ticks, place: (value) => value / ticks[lines] };
}

function logarithmicAxis(min: number, max: number): Axis {
  const ticks: number[] = [];
  for (let exponent = Math.floor(Math.log10(min)); exponent <= Math.ceil(Math.log10(max)); exponent++) {
    ticks.push(...ROUND.map((round) => rounded(round * 10 ** exponent)));
  }
  const bottom = ticks.findLastIndex((tick) => tick <= min);
  const top = ticks.findIndex((tick) => tick >= max && tick > ticks[bottom]);
  const used = ticks.slice(bottom, top + 1);
  const height = Math.log(ticks[top] / ticks[bottom]);
  return { ticks: used, place: (value) => Math.log(value / ticks[bottom]) / height };
}

/** Without the last digits that adding and multiplying leave behind. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/** Line charts side by side and one below the other, with one legend, as an SVG document. */

import { type AxisKind, axisFor } from "./axis.ts";

interface Line {
  name: string;
  /** One for each column. */
  values: readonly number[];
}

export interface LineChart {
  title: string;
  kind: AxisKind;
  columns: readonly string[];
  /** At least one; a line of equal name looks the same in all charts. */
  lines: readonly Line[];
  /** A value as the axis says it. */
  format: (value: number) => string;
}

const CHART = { width: 260, height: 190, left: 48, right: 12, top: 26, bottom: 24 };
const PLOT_WIDTH = CHART.width - CHART.left - CHART.right;
const PLOT_HEIGHT = CHART.height - CHART.top - CHART.bottom;
const HEAD_HEIGHT = 52;
const LEGEND_DASH = 22;
/** Mean width of a letter of the legend. */
const LETTER_WIDTH = 6.4;

/** Okabe and Ito's colours, which nearly everybody can tell apart; the last line of a chart is a bound and dashed. */
const COLOURS = ["#8a8a8a", "#e69f00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9"];
const BOUND_COLOUR = "#222222";

/** `rows` are of charts with the same lines, the last of which is the bound that the others are held against. */
export function drawLineCharts(title: string, columnTitle: string, rows: readonly (readonly LineChart[])[]): string {
  const width = Math.max(...rows.map((row) => row.length)) * CHART.width;
  const height = HEAD_HEIGHT + rows.length * CHART.height + 18;
  const names = rows[0][0].lines.map(({ name }) => name);
  const charts = rows.flatMap((row, y) =>
    row.map((chart, x) => group(x * CHART.width, HEAD_HEIGHT + y * CHART.height, drawChart(chart))),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<title>${Bun.escapeHTML(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(12, 18, title, 'font-size="14" font-weight="bold"'),
    group(12, 38, drawLegend(names)),
    ...charts,
    text(width / 2, height - 6, columnTitle, 'text-anchor="middle"'),
    "</svg>\n",
  ].join("\n");
}

function drawLegend(names: readonly string[]): string {
  let left = 0;
  return names
    .map((name, place) => {
      const start = left;
      left += LEGEND_DASH + 6 + name.length * LETTER_WIDTH + 16;
      return `<path d="M${start} -4h${LEGEND_DASH}" ${stroke(place, names.length)}/>${text(start + LEGEND_DASH + 6, 0, name)}`;
    })
    .join("");
}

function drawChart({ title, kind, columns, lines, format }: LineChart): string {
  const axis = axisFor(
    lines.flatMap(({ values }) => values),
    kind,
  );
  const x = (column: number) => CHART.left + (PLOT_WIDTH * (column + 0.5)) / columns.length;
  const y = (value: number) => CHART.top + PLOT_HEIGHT * (1 - axis.place(value));
  const grid = axis.ticks.map(
    (tick) =>
      `<path d="M${CHART.left} ${fixed(y(tick))}h${PLOT_WIDTH}" stroke="#dddddd"/>${text(CHART.left - 5, y(tick) + 4, format(tick), 'text-anchor="end"')}`,
  );
  const names = columns.map((column, place) => text(x(place), CHART.height - 8, column, 'text-anchor="middle"'));
  const paths = lines.map(({ values }, place) => {
    const points = values.map((value, column) => `${fixed(x(column))} ${fixed(y(value))}`);
    return `<path d="M${points.join("L")}" ${stroke(place, lines.length)}/>`;
  });
  return [text(CHART.left, 14, title, 'font-weight="bold"'), ...grid, ...names, ...paths].join("\n");
}

function stroke(place: number, count: number): string {
  const isBound = place === count - 1;
  const colour = isBound ? BOUND_COLOUR : COLOURS[place % COLOURS.length];
  return `fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round"${isBound ? ' stroke-dasharray="4 3"' : ""}`;
}

function group(left: number, top: number, content: string): string {
  return `<g transform="translate(${left} ${top})">\n${content}\n</g>`;
}

function text(left: number, top: number, content: string, attributes = ""): string {
  return `<text x="${fixed(left)}" y="${fixed(top)}" fill="#222222"${attributes === "" ? "" : ` ${attributes}`}>${Bun.escapeHTML(content)}</text>`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}

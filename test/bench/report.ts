/** Rows as a person reads them: a line about the machine, and a Markdown table with a line for each figure. */

import { grouped } from "./grouped.ts";
import type { Interference } from "./interference.ts";
import type { Machine } from "./machine.ts";
import type { Figure, Row, Target } from "./question.ts";

/** Columns in their order; what belongs to a whole row stands in the line of its first figure. */
const COLUMNS: Record<string, (row: Row, figure: Figure) => string> = {
  what: (row, figure) => (figure === row.figures[0] ? row.what : ""),
  figure: (_row, { label }) => label,
  target: (_row, figure) => formatTarget(figure),
  measured: (_row, { value, unit }) => `${formatValue(value)} ${unit}`,
  result: (_row, { value, target }) => (target === null ? "" : formatResult(value, target)),
  checksum: (row, figure) => (figure === row.figures[0] ? row.checksum : ""),
};

/** Columns that make no sense where the sizes are not those that targets speak of. */
const JUDGING_COLUMNS = ["target", "result"];

export function formatMachine({ cpu, cores, bun, commit }: Machine): string {
  return `${cpu}, ${cores} cores, Bun ${bun}, commit ${commit}`;
}

/** What else the machine did around the run. */
export function formatInterference({ lostShare, longestPauseMs }: Interference): string {
  const lost = (lostShare * 100).toFixed(1);
  return `Beside the run a busy loop lost ${lost} % of its time to others, at most ${longestPauseMs.toFixed(1)} ms at once`;
}

/** `met by 31 %`: how far the value is on the right side of the limit, in percent of the limit; `missed by 8 %` likewise. */
export function formatResult(value: number, { kind, limit }: Target): string {
  const margin = (kind === "at-most" ? limit - value : value - limit) / limit;
  const percent = Math.abs(margin * 100);
  return `${margin >= 0 ? "met" : "missed"} by ${percent < 10 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** `judging`: the rows are of the sizes that targets speak of, so that the table holds them against these. */
export function formatTable(rows: readonly Row[], judging: boolean): string {
  const headings = Object.keys(COLUMNS).filter((column) => judging || !JUDGING_COLUMNS.includes(column));
  const body = rows.flatMap((row) => row.figures.map((figure) => headings.map((column) => COLUMNS[column](row, figure))));
  const widths = headings.map((heading, column) => Math.max(heading.length, ...body.map((cells) => cells[column].length)));
  const format = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [headings, widths.map((width) => "-".repeat(width)), ...body].map(format).join("\n");
}

function formatTarget({ target, unit }: Figure): string {
  if (target === null) return "";
  return `${target.kind === "at-most" ? "≤" : "≥"} ${formatValue(target.limit)} ${unit}`;
}

function formatValue(value: number): string {
  return value < 100 ? String(Number(value.toFixed(1))) : grouped(value);
}

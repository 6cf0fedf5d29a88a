/** The README's state table as data: what each event does in each state. */

import { fileURLToPath } from "node:url";

const README = fileURLToPath(new URL("../../src/fleet/README.md", import.meta.url));

interface Cell {
  /** Column of the state after the event. */
  next: string;
  /** Effects as the README names them, in order. */
  effects: string[];
}

export interface StateTable {
  columns: string[];
  /** Event, then column. */
  rows: Map<string, Map<string, Cell>>;
}

const CELL = /^`([^`]+)` (.+)$/;

export async function readStateTable(): Promise<StateTable> {
  const lines = (await Bun.file(README).text()).split("\n");
  const start = lines.findIndex((line) => line.startsWith("| event |"));
  if (start < 0) throw new Error('Cannot read the table "event": README.md has none');
  const end = lines.findIndex((line, n) => n > start && !line.startsWith("|"));
  const [[, ...columns], , ...rows] = lines.slice(start, end < 0 ? undefined : end).map(splitRow);
  const readCells = (cells: string[]) => new Map(cells.map((cell, n) => [columns[n], readCell(cell)]));
  return { columns, rows: new Map(rows.map(([event, ...cells]) => [event, readCells(cells)])) };
}

function splitRow(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function readCell(cell: string): Cell {
  const [, next, done] = CELL.exec(cell) ?? [];
  if (next === undefined) throw new Error(`Cannot read cell ${JSON.stringify(cell)}: a state and what is done are needed`);
  return { next, effects: done === "—" ? [] : done.split(", ") };
}

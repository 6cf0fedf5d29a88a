/** The README's tables as data: what each event does in each state, with the moves written out as effects. */

import { fileURLToPath } from "node:url";

const README = fileURLToPath(new URL("../../src/stream/README.md", import.meta.url));

export interface Cell {
  /** Kind of the state after the event. */
  next: string;
  /** Effects as the README names them, in order. */
  effects: string[];
}

export interface StateTable {
  columns: string[];
  /** Event, then column. */
  rows: Map<string, Map<string, Cell>>;
}

const CELL = /^`(\w+)` (.+)$/;
const MOVE = /^_(.+)_$/;

/** The table whose first column has this title. */
export async function readStateTable(title: string): Promise<StateTable> {
  const moves = await readMoves();
  const { columns, rows } = readTable(await Bun.file(README).text(), title);
  const readCells = (cells: string[]) => new Map(cells.map((cell, n) => [columns[n], readCell(cell, moves)]));
  return { columns, rows: new Map(rows.map(([event, ...cells]) => [event, readCells(cells)])) };
}

/** Effects of each move. */
export async function readMoves(): Promise<Map<string, string[]>> {
  const { rows } = readTable(await Bun.file(README).text(), "move");
  return new Map(rows.map(([move, effects]) => [move, effects.split(", ")]));
}

/** Reasons that the README explains, in its order. */
export async function readReasons(): Promise<string[]> {
  const { rows } = readTable(await Bun.file(README).text(), "reason");
  return rows.flatMap(([reasons]) => reasons.split(", "));
}

/** The table whose first column has this title. */
function readTable(text: string, title: string): { columns: string[]; rows: string[][] } {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => splitRow(line)[0] === title);
  if (start < 0) throw new Error(`Cannot read table ${JSON.stringify(title)}: README.md has none`);
  const end = lines.findIndex((line, n) => n > start && !line.startsWith("|"));
  const [head, , ...body] = lines.slice(start, end < 0 ? undefined : end).map(splitRow);
  return { columns: head.slice(1), rows: body };
}

function splitRow(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function readCell(cell: string, moves: ReadonlyMap<string, string[]>): Cell {
  const [, next, done] = CELL.exec(cell) ?? [];
  if (next === undefined) throw new Error(`Cannot read cell ${JSON.stringify(cell)}: a state and what is done are needed`);
  return { next, effects: done === "—" ? [] : done.split(", ").flatMap((part) => writtenOut(part, moves)) };
}

function writtenOut(part: string, moves: ReadonlyMap<string, string[]>): string[] {
  const move = MOVE.exec(part)?.[1];
  if (move === undefined) return [part];
  const effects = moves.get(move);
  if (effects === undefined) throw new Error(`Cannot read move ${JSON.stringify(move)}: the table of moves lacks it`);
  return effects;
}

/** Tables of a room's README as data: above all what each event does in each state. */

interface Table {
  /** Titles of the columns but the first, whose cells name the rows. */
  columns: string[];
  rows: string[][];
}

export interface Cell {
  /** State after the event. */
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

/** The table of `readme` whose first column has this title. */
export async function readTable(readme: URL, title: string): Promise<Table> {
  const lines = (await Bun.file(readme).text()).split("\n");
  const start = lines.findIndex((line) => splitRow(line)[0] === title);
  if (start < 0) throw new Error(`Cannot read table ${JSON.stringify(title)}: README.md has none`);
  const end = lines.findIndex((line, n) => n > start && !line.startsWith("|"));
  const [[, ...columns], , ...rows] = lines.slice(start, end < 0 ? undefined : end).map(splitRow);
  return { columns, rows };
}

/** The same as a state table; `writeOut` gives the effects that a word of a cell stands for. */
export async function readStateTable(readme: URL, title: string, writeOut = (word: string) => [word]): Promise<StateTable> {
  const { columns, rows } = await readTable(readme, title);
  const readCells = (cells: string[]) => new Map(cells.map((cell, n) => [columns[n], readCell(cell, writeOut)]));
  return { columns, rows: new Map(rows.map(([event, ...cells]) => [event, readCells(cells)])) };
}

function splitRow(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function readCell(cell: string, writeOut: (word: string) => string[]): Cell {
  const [, next, done] = CELL.exec(cell) ?? [];
  if (next === undefined) throw new Error(`Cannot read cell ${JSON.stringify(cell)}: a state and what is done are needed`);
  return { next, effects: done === "—" ? [] : done.split(", ").flatMap(writeOut) };
}

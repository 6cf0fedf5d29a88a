/** What src/stream/README.md says in tables, with the moves written out as effects. */

import { readStateTable, readTable, type StateTable } from "../support/state-table.ts";

const README = new URL("../../src/stream/README.md", import.meta.url);

const MOVE = /^_(.+)_$/;

/** Effects of each move. */
export async function readMoves(): Promise<Map<string, string[]>> {
  const { rows } = await readTable(README, "move");
  return new Map(rows.map(([move, effects]) => [move, effects.split(", ")]));
}

/** Reasons that the README explains, in its order. */
export async function readReasons(): Promise<string[]> {
  const { rows } = await readTable(README, "reason");
  return rows.flatMap(([reasons]) => reasons.split(", "));
}

/** The state table whose first column has this title. */
export async function readStreamTable(title: string): Promise<StateTable> {
  const moves = await readMoves();
  return readStateTable(README, title, (word) => {
    const move = MOVE.exec(word)?.[1];
    if (move === undefined) return [word];
    const effects = moves.get(move);
    if (effects === undefined) throw new Error(`Cannot read move ${JSON.stringify(move)}: the table of moves lacks it`);
    return effects;
  });
}

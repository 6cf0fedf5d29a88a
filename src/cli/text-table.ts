/**
 * Tables for a terminal. Where a row does not fit its first cell has a line of its own, and the others one below; notes are wrapped.
 * Lines for other programs are neither cut nor wrapped.
 */

import { type Colour, type Painted, paint, printable, widthOf } from "./paint.ts";
import type { Screen } from "./terminal.ts";

const GAP = "  ";

/** Of what stands below the line that it belongs to. */
const INDENT = "  ";

/** Narrower notes would be a word a line. */
const NOTE_COLUMNS_MIN = 20;

export interface Column {
  heading: string;
  /** To the right. */
  isNumber?: true;
}

export interface Row {
  /** One for each column. */
  cells: readonly Painted[];
  /** Sentences that stand below the row. */
  notes?: readonly Painted[];
}

/** The lines of a table. */
export function tableLines(columns: readonly Column[], rows: readonly Row[], screen: Screen): string[] {
  const headings = columns.map(({ heading }): Painted => ({ text: heading, colour: "dim" }));
  const all = [headings, ...rows.map(({ cells }) => cells)];
  const widths = columns.map((_, column) => Math.max(...all.map((cells) => widthOf(cells[column] as Painted))));
  const whole = widths.reduce((sum, width) => sum + width) + GAP.length * (widths.length - 1);
  const isStacked = screen.size !== null && whole > screen.size.columns;

  const line = (cells: readonly Painted[], from: number, to?: number) =>
    cells
      .map((cell, column) => {
        const padding = " ".repeat((widths[column] as number) - widthOf(cell));
        const painted = paint(cell, screen.hasColours);
        return columns[column]?.isNumber ? padding + painted : painted + padding;
      })
      .slice(from, to)
      .join(GAP)
      .trimEnd();
  const lines = (cells: readonly Painted[]) => (isStacked ? [line(cells, 0, 1), INDENT + line(cells, 1)] : [line(cells, 0)]);

  return [
    ...lines(headings),
    ...rows.flatMap(({ cells, notes = [] }) => [...lines(cells), ...notes.flatMap((note) => noteLines(note, screen))]),
  ].map((text) => cutLine(text, screen));
}

/** A sentence below what it is about. */
export function noteLines(note: Painted, screen: Screen): string[] {
  const indented = wrapped(note, screen, INDENT.length);
  return indented.map((text) => INDENT + text);
}

/** A sentence of its own. */
export function sentenceLines(sentence: Painted, screen: Screen): string[] {
  return wrapped(sentence, screen, 0);
}

function wrapped(sentence: Painted, { size, hasColours }: Screen, indent: number): string[] {
  const [text, colour] = typeof sentence === "string" ? [sentence, null] : [sentence.text, sentence.colour];
  const safe = printable(text);
  const lines =
    size === null ? [safe] : Bun.wrapAnsi(safe, Math.max(size.columns - indent, NOTE_COLUMNS_MIN), { hard: true }).split("\n");
  return lines.map((each) => paint(inColour(each, colour), hasColours));
}

function inColour(text: string, colour: Colour | null): Painted {
  return colour === null ? text : { text, colour };
}

function cutLine(text: string, { size }: Screen): string {
  if (size === null || Bun.stringWidth(text) <= size.columns) return text;
  // A wide character across the edge is kept whole: one column is left for it, and one for the ellipsis.
  return `${Bun.sliceAnsi(text, 0, size.columns - 2)}…`;
}

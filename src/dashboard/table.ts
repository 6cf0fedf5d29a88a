/** Tables that a phone shows as a list of cards: each cell says which column it is of. */

import { type Content, element } from "./element.ts";

/**
 * Numbers stand right, and four beside each other on a phone. A bar has a wide column, and a line of its own on a phone; a gauge is a
 * smaller one. A qualifier stands beside the name there, and words have a line of their own.
 */
type CellKind = "number" | "bar" | "gauge" | "qualifier" | "words";

export interface Column {
  heading: string;
  kind?: CellKind;
}

export interface Row {
  key: string;
  className?: string;
  /** One for each column. */
  cells: readonly (Content | readonly Content[])[];
}

/** The roles stay where a narrow screen takes the table's own layout away. */
export function table(label: string, columns: readonly Column[], rows: readonly Row[]): HTMLElement {
  const headings = columns.map(({ heading, kind }) =>
    element("th", { scope: "col", role: "columnheader", class: kind ?? null }, heading),
  );
  return element(
    "table",
    { role: "table", "aria-label": label },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...headings)),
    element("tbody", { role: "rowgroup" }, ...rows.map((row) => tableRow(row, columns))),
  );
}

function tableRow({ key, className, cells }: Row, columns: readonly Column[]): HTMLElement {
  const made = cells.map((content, position) => {
    const { heading, kind = null } = columns[position] ?? { heading: "" };
    const parts = Array.isArray(content) ? (content as readonly Content[]) : [content as Content];
    const role = position === 0 ? "rowheader" : "cell";
    return element("td", { role, "data-label": heading, class: kind }, ...parts);
  });
  return element("tr", { role: "row", "data-key": key, class: className ?? null }, ...made);
}

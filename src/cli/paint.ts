/** Text as a terminal shows it: colours where they are wanted, and nothing that could steer it. */

/** ANSI codes. */
const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

export type Colour = keyof typeof COLOURS;

export type Painted = string | { text: string; colour: Colour };

/** Control characters, line separators, and what turns the direction of writing. */
const UNSAFE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** `text` with the colour around it, or alone. Its width is that of the text. */
export function paint(painted: Painted, hasColours: boolean): string {
  const text = printable(textOf(painted));
  return hasColours && typeof painted !== "string" && text !== "" ? `\x1b[${COLOURS[painted.colour]}m${text}\x1b[0m` : text;
}

/** The columns that it takes. */
export function widthOf(painted: Painted): number {
  return Bun.stringWidth(printable(textOf(painted)));
}

/** Names and reasons come from outside: what could steer a terminal is shown as in JSON, `\u001b`. JSON on one line stays JSON. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function textOf(painted: Painted): string {
  return typeof painted === "string" ? painted : painted.text;
}

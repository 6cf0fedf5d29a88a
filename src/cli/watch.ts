/** Draws the same lines anew again and again, until whoever watches has seen enough. */

import { CommandError } from "./errors.ts";
import type { Screen, Terminal } from "./terminal.ts";

const WATCH_INTERVAL_MS = 1000;

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const CLEAR = "\x1b[2J";
const HOME = "\x1b[H";
const CLEAR_REST_OF_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

/**
 * Calls `frame` for lines about once a second, and shows them in place on a terminal, one after another elsewhere. Where Warmpath
 * does not answer, `failed` tells so in their place: it may be about to start again. Resolves when the terminal is stopped.
 */
export async function watch(
  terminal: Terminal,
  frame: () => Promise<string[]>,
  failed: (message: string, screen: Screen) => string[],
): Promise<void> {
  const stopped = terminal.stopped();
  const isInPlace = terminal.screen().size !== null;
  if (isInPlace) terminal.write(HIDE_CURSOR + CLEAR);
  try {
    while (!stopped.aborted) {
      const lines = await frame().catch((error: unknown) => {
        if (!(error instanceof CommandError)) throw error;
        return failed(error.message, terminal.screen());
      });
      if (stopped.aborted) break;
      terminal.write(drawn(lines, terminal.screen()));
      await pause(WATCH_INTERVAL_MS, stopped);
    }
  } finally {
    if (isInPlace) terminal.write(SHOW_CURSOR);
  }
}

function drawn(lines: readonly string[], { size }: Screen): string {
  if (size === null) return `${lines.join("\n")}\n`;
  // The last row stays empty: a line break in it would scroll.
  const rows = size.rows - 1;
  const leftOut = lines.length - (rows - 1);
  const shown = lines.length <= rows ? lines : [...lines.slice(0, rows - 1), `… ${leftOut} more lines`];
  return HOME + shown.map((line) => `${line}${CLEAR_REST_OF_LINE}\n`).join("") + CLEAR_BELOW;
}

function pause(ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stopped.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

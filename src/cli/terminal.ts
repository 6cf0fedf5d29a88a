/** Where a command's output goes: how wide it is, whether it has colours, and that a reader who leaves ends the command quietly. */

import { writeSync } from "node:fs";
import { isatty } from "node:tty";

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

/** Of a terminal that does not say its size. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export interface Screen {
  /** Null: no terminal; lines are as long as they are then, for the programs that read them. */
  readonly size: { columns: number; rows: number } | null;
  readonly hasColours: boolean;
}

export interface Terminal {
  /** Of standard output, now: windows change. */
  screen(): Screen;
  /** To standard output. Throws ReaderGoneError when nobody reads it any more. */
  write(text: string): void;
  /** A message to standard error; throws the same. */
  complain(message: string): void;
  standardInput(): ReadableStream<Uint8Array>;
  /** Aborted by SIGINT and SIGTERM, which from this call on do not end the process. */
  stopped(): AbortSignal;
}

/** Whoever read standard output has left, as `head` does when it has enough: no error, but no reason to go on. */
export class ReaderGoneError extends Error {
  override readonly name = "ReaderGoneError";
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The terminal, pipe or file that this process was started with. */
export function processTerminal(environment: Environment): Terminal {
  const isTerminal = isatty(STANDARD_OUTPUT);
  const hasColours = isTerminal && !environment.NO_COLOR && environment.TERM !== "dumb";
  return {
    screen() {
      if (!isTerminal) return { size: null, hasColours };
      const { columns = DEFAULT_COLUMNS, rows = DEFAULT_ROWS } = process.stdout;
      return { size: { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS }, hasColours };
    },
    write: (text) => writeAll(STANDARD_OUTPUT, text),
    complain: (message) => writeAll(STANDARD_ERROR, `${message}\n`),
    standardInput: () => Bun.stdin.stream(),
    stopped() {
      const controller = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => controller.abort());
      return controller.signal;
    },
  };
}

/** Written before it returns, so that nothing is lost when the process ends; a slow reader, such as a pager, is waited for. */
function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") throw new ReaderGoneError("Cannot write: nobody reads the output any more");
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}

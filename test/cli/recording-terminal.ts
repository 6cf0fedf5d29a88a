/** A terminal for tests: what a command wrote, what it complained of, and whatever size, input and end the test gives it. */

import { runCommand } from "#cli";
import type { Screen, Terminal } from "../../src/cli/terminal.ts";

/** Nothing is cut or wrapped there, and nothing is coloured. */
export const PIPE: Screen = { size: null, hasColours: false };

export class RecordingTerminal implements Terminal {
  readonly #screen: Screen;
  readonly #input: string;
  readonly #stopping = new AbortController();
  /** Each call of `write`. */
  readonly writes: string[] = [];
  complaints = "";
  /** Called with each write. */
  onWrite: (terminal: RecordingTerminal) => void = () => {};

  constructor({ screen = PIPE, input = "" }: { screen?: Screen; input?: string } = {}) {
    this.#screen = screen;
    this.#input = input;
  }

  get output(): string {
    return this.writes.join("");
  }

  screen(): Screen {
    return this.#screen;
  }

  write(text: string): void {
    this.writes.push(text);
    this.onWrite(this);
  }

  complain(message: string): void {
    this.complaints += `${message}\n`;
  }

  standardInput(): ReadableStream<Uint8Array> {
    return new Blob([this.#input]).stream();
  }

  stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  stop(): void {
    this.#stopping.abort();
  }
}

/** What a command prints and how it ends. */
export async function run(
  args: readonly string[],
  { environment = {}, ...options }: { environment?: Record<string, string>; screen?: Screen; input?: string } = {},
): Promise<{ code: number; output: string; complaints: string }> {
  const terminal = new RecordingTerminal(options);
  const [name = "", ...rest] = args;
  const code = await runCommand(name, rest, environment, terminal);
  return { code, output: terminal.output, complaints: terminal.complaints };
}

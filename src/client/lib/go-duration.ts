/** Durations as Go programs write them: `100ms`, `1.5s`, `1m30s`. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // micro sign
  μs: 1e-3, // Greek mu
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** The duration in milliseconds; null when `text` is not a sequence of numbers with units. A plain `0` needs none. */
export function parseGoDuration(text: string): number | null {
  if (text === "0") return 0;
  let durationMs = 0;
  PART.lastIndex = 0;
  let position = 0;
  while (position < text.length) {
    const part = PART.exec(text);
    if (part === null) return null;
    durationMs += Number(part[1]) * UNIT_MS[part[2]];
    position = PART.lastIndex;
  }
  return text === "" ? null : durationMs;
}

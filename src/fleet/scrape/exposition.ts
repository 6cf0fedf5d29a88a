/**
 * Reads Prometheus' text format, version 0.0.4, and OpenMetrics as far as they agree about samples: only the families asked
 * for, whatever else the page holds. A line of another family is never looked into; a malformed line of a family asked for
 * makes the page unusable, since a sum without it would be wrong.
 */

import { assert } from "#base";

/** A page of vLLM has about 100 KiB; forty times that is no engine's page any more. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Two families of 128 data-parallel ranks with 8 label sets each, twice over. */
export const SAMPLES_MAX = 4096;

export interface MetricSample {
  family: string;
  labels: ReadonlyMap<string, string>;
  /** NaN and the infinities as they are. */
  value: number;
}

/** `problem` is a clause for the person on call. */
export type Exposition = { kind: "samples"; samples: readonly MetricSample[] } | { kind: "unusable"; problem: string };

/** Letters of a malformed line that a message shows. */
const SHOWN_LETTERS = 80;

const LABEL = /[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*/y;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const INFINITY = /^([+-]?)inf(?:inity)?$/i;
/** What follows the labels: value, perhaps a timestamp, perhaps an exemplar of OpenMetrics. */
const REST = /^[ \t]*([^ \t#]+)(?:[ \t]+[-+.\de]+)?[ \t]*(?:#.*)?$/i;

/** The samples of `families`, in the order of the page. `page` has at most PAGE_BYTES_MAX letters. */
export function readExposition(page: string, families: readonly string[]): Exposition {
  assert(page.length <= PAGE_BYTES_MAX, "a page of metrics is bounded where it is received");
  const samples: MetricSample[] = [];
  for (let start = 0; start < page.length; ) {
    const newline = page.indexOf("\n", start);
    const end = newline === -1 ? page.length : newline;
    const nameStart = skipBlanks(page, start, end);
    const family = families.find((name) => isNamed(page, nameStart, name));
    if (family !== undefined) {
      const line = page.slice(nameStart, end).trimEnd();
      const sample = readSample(line, family);
      if (sample === null) return unusable(`this line of /metrics is no sample: ${JSON.stringify(line.slice(0, SHOWN_LETTERS))}`);
      if (samples.length === SAMPLES_MAX)
        return unusable(`/metrics has more than ${SAMPLES_MAX} samples of ${families.join(", ")}`);
      samples.push(sample);
    }
    start = end + 1;
  }
  return { kind: "samples", samples };
}

function unusable(problem: string): Exposition {
  return { kind: "unusable", problem };
}

function skipBlanks(page: string, start: number, end: number): number {
  let position = start;
  while (position < end && isBlank(page[position])) position++;
  return position;
}

/** Whether the name at `start` is `name` and not one that only begins so, such as `vllm:num_requests_waiting_by_reason`. */
function isNamed(page: string, start: number, name: string): boolean {
  if (!page.startsWith(name, start)) return false;
  const next = page[start + name.length];
  return next === undefined || next === "{" || next === "\n" || next === "\r" || isBlank(next);
}

function isBlank(letter: string | undefined): boolean {
  return letter === " " || letter === "\t";
}

/** `line` begins with the family's name. Null when it is malformed. */
function readSample(line: string, family: string): MetricSample | null {
  const labels = new Map<string, string>();
  let position = skipBlanks(line, family.length, line.length);
  if (line[position] === "{") {
    position = readLabels(line, position + 1, labels);
    if (position === -1) return null;
  }
  const rest = REST.exec(line.slice(position));
  const value = rest === null ? null : readValue(rest[1] as string);
  return value === null ? null : { family, labels, value };
}

/** Reads from behind the opening brace; answers the position behind the closing one, -1 when there is none. */
function readLabels(line: string, start: number, labels: Map<string, string>): number {
  LABEL.lastIndex = start;
  let position = start;
  for (let match = LABEL.exec(line); match !== null; match = LABEL.exec(line)) {
    labels.set(match[1] as string, unescapeLabel(match[2] as string));
    position = LABEL.lastIndex;
    if (line[position] !== ",") break;
    // A comma may also stand behind the last label.
    LABEL.lastIndex = ++position;
  }
  position = skipBlanks(line, position, line.length);
  return line[position] === "}" ? position + 1 : -1;
}

function unescapeLabel(text: string): string {
  if (!text.includes("\\")) return text;
  // An escape that the format does not know stands for itself.
  return text.replace(/\\([\\"n])/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
}

function readValue(text: string): number | null {
  if (NUMBER.test(text)) return Number(text);
  if (/^[+-]?nan$/i.test(text)) return Number.NaN;
  const infinity = INFINITY.exec(text);
  if (infinity === null) return null;
  return infinity[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

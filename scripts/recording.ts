/**
 * The file of a recorded publisher, JSON lines: the first says what was recorded, each further one is a message with its frames
 * as base64, or a change of the connection. Text costs a third more bytes than binary would; `head`, `jq` and `diff` read it,
 * lines can be appended, and of a file that was cut off all whole lines are good.
 */

/** Raised with every change that an older reader would misread. */
const FORMAT_VERSION = 1;

export interface RecordingHead {
  endpoint: string;
  topic: string;
  /** ISO 8601. */
  startedAt: string;
  /** Version of Warmpath that recorded. */
  warmpath: string;
}

/** `atMs` counts from the start of the recording. */
export type RecordingEntry =
  | { kind: "message"; atMs: number; frames: Uint8Array[] }
  | { kind: "connection"; atMs: number; event: string };

export interface Recording {
  head: RecordingHead;
  entries: RecordingEntry[];
  /** What was found wrong and left out, for whoever reads. */
  warnings: string[];
}

/** The first line, with its line end. */
export function formatHead(head: RecordingHead): string {
  return `${JSON.stringify({ warmpathRecording: FORMAT_VERSION, ...head })}\n`;
}

/** One further line, with its line end. */
export function formatEntry(entry: RecordingEntry): string {
  switch (entry.kind) {
    case "message":
      return `${JSON.stringify({ atMs: entry.atMs, frames: entry.frames.map((frame) => frame.toBase64()) })}\n`;
    case "connection":
      return `${JSON.stringify({ atMs: entry.atMs, connection: entry.event })}\n`;
  }
}

/**
 * Reads a whole file. A last line without its end is left out with a warning, because the recorder was cut off in it. Throws
 * SyntaxError, with the line's number, for a file that is no recording or for a line that no recorder wrote.
 */
export function parseRecording(text: string): Recording {
  const lines = text.split("\n");
  const cutLine = lines.pop() ?? "";
  const [first, ...rest] = lines;
  const warnings = cutLine === "" ? [] : [`Line ${lines.length + 1} is cut off and left out`];
  return { head: parseHead(first ?? ""), entries: rest.map((line, index) => parseEntry(line, index + 2)), warnings };
}

function parseHead(line: string): RecordingHead {
  const { warmpathRecording, endpoint, topic, startedAt, warmpath } = parseObject(line, 1);
  if (warmpathRecording !== FORMAT_VERSION) {
    const found = `"warmpathRecording" is ${JSON.stringify(warmpathRecording)}`;
    throw new SyntaxError(`Cannot read the recording: line 1: ${found}, ${FORMAT_VERSION} is needed`);
  }
  if ([endpoint, topic, startedAt, warmpath].every((value) => typeof value === "string")) {
    return { endpoint, topic, startedAt, warmpath } as RecordingHead;
  }
  throw new SyntaxError('Cannot read the recording: line 1: texts "endpoint", "topic", "startedAt", "warmpath" are needed');
}

function parseEntry(line: string, lineNumber: number): RecordingEntry {
  const { atMs, frames, connection } = parseObject(line, lineNumber);
  if (typeof atMs === "number" && atMs >= 0) {
    if (typeof connection === "string") return { kind: "connection", atMs, event: connection };
    if (Array.isArray(frames)) return { kind: "message", atMs, frames: frames.map((frame) => parseFrame(frame, lineNumber)) };
  }
  const needed = '"atMs" with either "frames" or "connection" is needed';
  throw new SyntaxError(`Cannot read the recording: line ${lineNumber}: ${needed}`);
}

function parseFrame(frame: unknown, lineNumber: number): Uint8Array {
  try {
    return Uint8Array.fromBase64(String(frame));
  } catch (cause) {
    throw new SyntaxError(`Cannot read the recording: line ${lineNumber}: a frame is not base64`, { cause });
  }
}

function parseObject(line: string, lineNumber: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw new SyntaxError(`Cannot read the recording: line ${lineNumber}: it is no JSON`, { cause });
  }
  throw new SyntaxError(`Cannot read the recording: line ${lineNumber}: a JSON object is needed`);
}

/** Reads the bodies of answers, each bounded: one JSON document, or a JSON document a line for as long as they come. */

import { ApiServerError, messageOf } from "./errors.ts";

const LINE_FEED = 0x0a;

/** The whole body as JSON. Throws an ApiServerError when it is longer than `bytesMax`, no JSON, or breaks off. */
export async function readJson(body: ReadableStream<Uint8Array>, bytesMax: number, what: string): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new Error(`it has more than ${bytesMax} bytes, at most these are needed`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch (thrown) {
    throw new ApiServerError("unreadable", `Cannot read ${what}: ${messageOf(thrown)}`, thrown);
  }
}

/**
 * Every complete line as JSON, until the body ends in whichever way; `onChunk` is called as bytes arrive. What is left without
 * a line feed was cut off and is dropped: a watch goes on from the last event that arrived whole. Throws an ApiServerError on a
 * line that is longer than `bytesMax` or no JSON.
 */
export async function* readJsonLines(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
  onChunk: () => void,
): AsyncGenerator<unknown> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of untilItEnds(body)) {
    onChunk();
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      parts.push(chunk.subarray(start, end));
      start = end + 1;
      const line = Buffer.concat(parts).toString();
      parts = [];
      bytes = 0;
      if (line !== "") yield parsedLine(line);
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > bytesMax) {
      const found = `a line has more than ${bytesMax} bytes`;
      throw new ApiServerError("unreadable", `Cannot read the watch: ${found}, at most these are needed`);
    }
  }
}

/** A connection that breaks has ended: whether that means anything, the next request tells. */
async function* untilItEnds(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const read = await reader.read().catch(() => null);
      if (read === null || read.done) return;
      yield read.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    const found = `a line begins with ${JSON.stringify(line.slice(0, 40))}`;
    throw new ApiServerError("unreadable", `Cannot read the watch: ${found}, JSON is needed`, cause);
  }
}

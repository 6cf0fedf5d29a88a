/**
 * `bun run record -- tcp://host:port [--topic TEXT] [--out FILE] [--seconds N]`: writes down what a live publisher sends, until
 * Ctrl-C or for so many seconds. `bun run replay` plays the file to a Warmpath elsewhere.
 */

import { closeSync, openSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { version } from "../package.json";
import { recordPublisher } from "./recorder.ts";
import { formatEntry, formatHead } from "./recording.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    topic: { type: "string", default: "" },
    out: { type: "string", default: `recording-${new Date().toISOString().replaceAll(/[:.]/g, "-")}.jsonl` },
    seconds: { type: "string" },
  },
});
const [endpoint] = positionals;
const seconds = values.seconds === undefined ? null : Number(values.seconds);
if (positionals.length !== 1 || !/^tcp:\/\/.+:\d+$/.test(endpoint) || (seconds !== null && !(seconds > 0))) {
  console.error("Cannot record: bun run record -- tcp://host:port [--topic TEXT] [--out FILE] [--seconds N] is needed");
  process.exit(2);
}

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
if (seconds !== null) setTimeout(() => stopping.abort(), seconds * 1000);

const counts = { messages: 0, lost: 0 };
const file = openNew(values.out);
const write = (line: string) => writeSync(file, line);
write(formatHead({ endpoint, topic: values.topic, startedAt: new Date().toISOString(), warmpath: version }));
console.error(`Recording ${endpoint}, topic ${JSON.stringify(values.topic)}, to ${values.out}; stop with Ctrl-C`);
await recordPublisher({
  endpoint,
  topic: values.topic,
  signal: stopping.signal,
  onEntry(entry) {
    write(formatEntry(entry));
    if (entry.kind === "message") counts.messages += 1;
    else console.error(`Connection: ${entry.event}`);
  },
  onLost(frames) {
    counts.lost += 1;
    console.error(`Cannot write down a message of ${frames} frames: it is too large`);
  },
});
closeSync(file);
console.error(`Recorded ${counts.messages} messages${counts.lost > 0 ? `, ${counts.lost} were too large` : ""}`);

/** Never over another recording. */
function openNew(path: string): number {
  try {
    return openSync(path, "wx");
  } catch (error) {
    console.error(`Cannot record to ${JSON.stringify(path)}: ${String(error)}, a path that can be created is needed`);
    process.exit(2);
  }
}

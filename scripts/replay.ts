/**
 * `bun run replay -- FILE [--speed N|max] [--bind tcp://host:port] [--engine vllm|sglang|xllm] [--block-size N]`: plays a
 * recording as its publisher did, prints the configuration with which a local Warmpath listens to it, and answers replay requests
 * until Ctrl-C. The replay endpoint is one port above; with port 0 the system chooses both. `--speed max` sends without pauses.
 */

import { parseArgs } from "node:util";
import { ENGINES } from "#domain";
import { parseRecording, type Recording } from "./recording.ts";
import { answerUntil, play, ReplayPublisher } from "./replay-publisher.ts";

const USAGE =
  "bun run replay -- FILE [--speed N|max] [--bind tcp://host:port] [--engine vllm|sglang|xllm] [--block-size N] is needed";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    speed: { type: "string", default: "1" },
    bind: { type: "string", default: "tcp://127.0.0.1:5557" },
    engine: { type: "string", default: "vllm" },
    "block-size": { type: "string", default: "16" },
  },
});
const speed = values.speed === "max" ? Number.POSITIVE_INFINITY : Number(values.speed);
const bind = /^(tcp:\/\/.+):(\d+)$/.exec(values.bind);
const blockSize = Number(values["block-size"]);
if (positionals.length !== 1 || !(speed > 0) || bind === null || !(blockSize >= 1)) fail(USAGE);
if (!ENGINES.some((engine) => engine === values.engine)) fail(USAGE);

const recording = await readRecording(positionals[0]);
for (const warning of recording.warnings) console.error(warning);
const { topic, endpoint: recordedFrom, startedAt } = recording.head;
const [, host, port] = bind;
const publisher = openPublisher(values.bind, `${host}:${port === "0" ? 0 : Number(port) + 1}`);
const stream = {
  instance_name: "recording",
  engine: values.engine,
  block_size: blockSize,
  topic,
  endpoint: publisher.endpoint,
  replay_endpoint: publisher.replayEndpoint,
};
console.log(JSON.stringify({ streams: [stream] }));

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
const onRequest = (start: bigint) => console.error(`Answered a replay request from batch ${start}`);
const messages = recording.entries.filter(({ kind }) => kind === "message").length;
console.error(`Playing ${messages} messages of ${recordedFrom}, recorded ${startedAt}, on ${publisher.endpoint}`);
if (values.engine === "xllm")
  console.error("A recording holds no snapshot: an xLLM stream synchronizes at a batch of full state");
await play(publisher, recording.entries, { speed, signal: stopping.signal, onRequest });
console.error("Played; replay requests are answered until Ctrl-C");
await answerUntil(publisher, { signal: stopping.signal, onRequest });
publisher.close();

async function readRecording(path: string): Promise<Recording> {
  try {
    return parseRecording(await Bun.file(path).text());
  } catch (error) {
    return fail(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function openPublisher(endpoint: string, replayEndpoint: string): ReplayPublisher {
  try {
    return new ReplayPublisher({ endpoint, replayEndpoint });
  } catch (error) {
    return fail(String(error));
  }
}

function fail(reason: string): never {
  console.error(`Cannot replay: ${reason}`);
  process.exit(2);
}

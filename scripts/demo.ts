/**
 * Warmpath with four simulated engines that publish over real sockets: fills their caches, asks who holds how much of a few
 * prompts, prints the answers as tables, and goes on until stopped.
 */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "#base";
import { type Config, loadConfig } from "#config";
import { Service } from "#service";
import { runEngines, type SimulatedEngine, SimulatedFleet } from "#sim";
import { buildKernel } from "./build-kernel.ts";
import { type Answer, formatAnswer } from "./demo-table.ts";

const ENGINES = 4;

/** Steps before the first question: enough for the caches to be full, to offload and to evict. */
const WARM_UP_STEPS = 160;

const ROUND_MS = 50;

/** Until all four streams are synchronized; it takes some tenths of a second. */
const SYNCHRONIZED_TIMEOUT_MS = 10_000;

await buildKernel();
const fleet = new SimulatedFleet({ size: ENGINES });
for (let step = 0; step < WARM_UP_STEPS; step++) fleet.step();

const stopping = new AbortController();
const running = runEngines(fleet.engines, { intervalMs: ROUND_MS, signal: stopping.signal });
const service = await Service.start(await demoConfig(), createLogger());
const url = `http://127.0.0.1:${service.port}/v1/internal/kv-cache/query`;

await untilSynchronized();
console.log(`\nFour simulated engines publish their KV events over ZeroMQ; Warmpath listens to them and answers on ${url}.\n`);
const [first, second, third] = fleet.engines;
await show("a conversation that engine 2 has served, and engine 1 in part", placed(second, first));
await show("a conversation that engine 1 has served, and engine 3 in part", placed(first, third));
await show("a prompt that nobody has seen", new Uint32Array(1024).fill(149_999));
console.log("The engines go on serving. Ask yourself, for instance for the state of each stream:\n");
console.log(`  curl -s ${url} -H 'content-type: application/json' -d '{"token_ids":[]}'\n`);
console.log("Stop with Ctrl-C.");

const traffic = setInterval(() => fleet.step(), ROUND_MS * 4);
await new Promise<void>((resolve) => {
  process.once("SIGINT", resolve);
  process.once("SIGTERM", resolve);
});
clearInterval(traffic);
await service.stop();
stopping.abort();
await running;
fleet.close();
process.exit(0);

async function demoConfig(): Promise<Config> {
  const streams = fleet.engines.map(({ stream }) => ({
    instance_name: stream.instanceName,
    block_size: stream.blockSize,
    endpoint: stream.endpoint,
    replay_endpoint: stream.replayEndpoint,
    topic: stream.topic,
  }));
  const path = join(tmpdir(), `warmpath-demo-${process.pid}.json`);
  await Bun.write(path, JSON.stringify({ streams }));
  const config = await loadConfig(["--http-server-port", "0", "--kv-events-config-file", path, ...process.argv.slice(2)], {});
  await Bun.file(path).delete();
  if (config === "help") throw new Error("Cannot show help in the demo: use `bun run start --help`");
  return config;
}

/** A prompt that is held like that right now; there is one for every pair of engines after the warm-up. */
function placed(fullyAt: SimulatedEngine, partlyAt: SimulatedEngine): Uint32Array {
  const prompt = fleet.findPrompt({ fullyAt, partlyAt });
  if (prompt === null) throw new Error("Cannot find a prompt that two engines share: the warm-up was too short");
  return prompt;
}

async function ask(tokens: Uint32Array): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength),
  });
  if (!response.ok) throw new Error(`Cannot ask Warmpath: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

async function untilSynchronized(): Promise<void> {
  const deadline = Date.now() + SYNCHRONIZED_TIMEOUT_MS;
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${service.port}/readyz`);
    if (ready.ok) {
      const { matches } = await ask(new Uint32Array(0));
      if (matches.every(({ synchronized }) => synchronized)) return;
      if (Date.now() > deadline) throw new Error(`Cannot synchronize: ${matches.map(({ error }) => error).join(", ")}`);
    }
    await Bun.sleep(20);
  }
}

async function show(what: string, tokens: Uint32Array): Promise<void> {
  console.log(`Who holds ${what} (${tokens.length} tokens)?\n`);
  console.log(`${formatAnswer(await ask(tokens), tokens.length)}\n`);
}

/**
 * Warmpath with four simulated engines, each a process that may be killed and comes back: fills their caches, asks who holds how
 * much of a few prompts and where one of them should go, prints the answers as tables, and goes on with chat traffic that it routes
 * by Warmpath's decisions until stopped.
 */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "warmpath/client";
import { createLogger } from "#base";
import { type Config, loadConfig } from "#config";
import { Service } from "#service";
import { chatTraffic, SeededRandom, SMALL_SITE } from "#sim";
import { buildKernel } from "./build-kernel.ts";
import { DemoFleet } from "./demo/demo-fleet.ts";
import { type Answer, formatAnswer, formatDecision } from "./demo/demo-table.ts";
import { completePrompt, warmUp } from "./engine/send-prompt.ts";

const QUERY_PATH = "/v1/internal/kv-cache/query";

const ENGINES = 4;

/** Prompts before the first question: enough for the caches to be full, to offload and to evict. */
const WARM_UP_PROMPTS = 160;

/** One prompt after another: some more than the engines work off without their caches, so that the queues differ. */
const PROMPT_INTERVAL_MS = 110;

/** Until all four streams are synchronized; it takes about a second. */
const START_TIMEOUT_MS = 20_000;

/** An engine that is killed leaves the fleet before another process takes its place. */
const SUSPECT_TIMEOUT_MS = "3000";

/** Room for what an engine holds, and little more: how full it is can be seen. */
const BLOCKS_MAX = 512;

await buildKernel();
const config = await demoConfig();
const service = await Service.start(config, createLogger());
const url = `http://127.0.0.1:${service.port}`;
const client = createClient(url, { internalApiToken: config.internalApiToken });
const fleet = new DemoFleet(ENGINES, url, config.internalApiToken);
const prompts = chatTraffic(SMALL_SITE);

const recent = await fillCaches();
console.log(`\nFour simulated engines have registered and publish their KV events over ZeroMQ; Warmpath answers on ${url}.\n`);
await show("a conversation that engine 2 has served, and engine 1 in part", await heldPrompt(2, 1));
const prompt = await heldPrompt(1, 3);
await show("a conversation that engine 1 has served, and engine 3 in part", prompt);
await showDecision(prompt);
await show("a prompt that nobody has seen", new Uint32Array(1024).fill(149_999));

const promptFile = join(tmpdir(), "warmpath-demo-prompt.json");
await Bun.write(promptFile, JSON.stringify([...prompt]));
console.log(`Open the dashboard, and watch the engines go on serving:

  ${url}/

The prompt of engine 1 and 3 is in ${promptFile}, to be opened in the dashboard's explorer.
Kill an engine; it is gone at once, and comes back by itself:
`);
for (const { name, process } of fleet.engines) console.log(`  kill ${process}    # ${name}`);
console.log(`
Or ask yourself:

  curl -s ${url}/v1/instances
  curl -s ${url}${QUERY_PATH} -H 'content-type: application/json' -d '{"token_ids":[]}'
  curl -s ${url}/v1/route -H 'content-type: application/json' -d '{"token_ids":[1,2,3]}'

Stop with Ctrl-C.
`);

const traffic = setInterval(routeNext, PROMPT_INTERVAL_MS);
await new Promise<void>((resolve) => {
  process.once("SIGINT", resolve);
  process.once("SIGTERM", resolve);
});
clearInterval(traffic);
await fleet.close();
await service.stop();
process.exit(0);

async function demoConfig(): Promise<Config> {
  // Flags of the caller come before these.
  const defaults = { WARMPATH_HTTP_SERVER_PORT: "0", WARMPATH_SUSPECT_TIMEOUT_MS: SUSPECT_TIMEOUT_MS };
  const config = await loadConfig(process.argv.slice(2), defaults);
  if (config === "help") throw new Error("Cannot show help in the demo: use `bun run start --help`");
  return { ...config, kvEvents: { ...config.kvEvents, maxBlocksPerStream: BLOCKS_MAX } };
}

/** Fills the engines' caches at random, and waits until Warmpath knows all of it; the prompts, newest first. */
async function fillCaches(): Promise<Uint32Array[]> {
  const addresses = new Map<string, string>();
  await eventually(async () => {
    const { data } = await client.api.v1.instances.get();
    for (const { name, address } of data?.instances ?? []) addresses.set(name, address);
    return addresses.size === ENGINES ? "" : `${addresses.size} of ${ENGINES} engines have registered`;
  });
  const random = new SeededRandom(1);
  const batchSeqs = new Map<string, number>();
  const sent: Uint32Array[] = [];
  while (sent.length < WARM_UP_PROMPTS) {
    const tokens = prompts.next().value;
    const name = `engine-${1 + random.integerBelow(ENGINES)}:8000`;
    batchSeqs.set(name, await warmUp(addresses.get(name) ?? "", tokens));
    sent.unshift(tokens);
  }
  await eventually(async () => {
    const { matches } = await ask(new Uint32Array(0));
    const behind = matches.filter((match) => !match.synchronized || match.sequence < (batchSeqs.get(match.instance_name) ?? 0));
    if (matches.length < ENGINES) return `${matches.length} of ${ENGINES} engines are listened to`;
    return behind.map((match) => match.error ?? `${match.instance_name} is at batch ${match.sequence}`).join(", ");
  });
  return sent;
}

/** Until `look` finds no reason to wait any longer. */
async function eventually(look: () => Promise<string>): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (let reason = await look(); reason !== ""; reason = await look()) {
    if (performance.now() > deadlineMs) throw new Error(`Cannot synchronize within ${START_TIMEOUT_MS} ms: ${reason}`);
    await Bun.sleep(20);
  }
}

/** A prompt that one engine holds whole and the other in part right now; there is one for every pair after the warm-up. */
async function heldPrompt(whole: number, part: number): Promise<Uint32Array> {
  for (const tokens of recent) {
    const { matches } = await ask(tokens);
    const heldBy = (number: number) =>
      matches.find((match) => match.instance_name === `engine-${number}:8000`)?.reusable_prefix_tokens ?? 0;
    const isWhole = heldBy(whole) > tokens.length - 128;
    if (isWhole && heldBy(part) > 0 && heldBy(part) < heldBy(whole)) return tokens;
  }
  throw new Error("Cannot find a prompt that two engines share: the warm-up was too short");
}

/** The next prompt of the site goes where Warmpath says. What nobody can serve, or not to its end, is lost. */
async function routeNext(): Promise<void> {
  const tokens = prompts.next().value;
  const { data } = await client.route(new Uint32Array(tokens));
  if (data !== null) await completePrompt(data.prefill.address, tokens).catch(() => {});
}

async function ask(tokens: Uint32Array): Promise<Answer> {
  const { data, error } = await client.query(new Uint32Array(tokens));
  if (error) throw new Error(`Cannot ask Warmpath: it answered ${error.status}`);
  return data;
}

async function show(what: string, tokens: Uint32Array): Promise<void> {
  console.log(`Who holds ${what} (${tokens.length} tokens)?\n`);
  console.log(`${formatAnswer(await ask(tokens), tokens.length)}\n`);
}

async function showDecision(tokens: Uint32Array): Promise<void> {
  console.log("Where should it go? The least score: half for what is not held, half for the queue, beside the longest one.\n");
  const { data, error } = await client.route(new Uint32Array(tokens));
  if (error) throw new Error(`Cannot ask Warmpath: it answered ${error.status}`);
  console.log(`${formatDecision(data)}\n`);
}

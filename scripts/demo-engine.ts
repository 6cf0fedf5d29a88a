/**
 * One engine of the demo, a process of its own that may be killed: a simulated xLLM engine with a door for Warmpath's probes. It
 * registers, sends heartbeats, works off the prompts that it is sent one after another, and ends with the demo.
 *
 *     WARMPATH_INTERNAL_API_TOKEN=… bun scripts/demo-engine.ts NUMBER URL
 */

import { createClient } from "warmpath/client";
import { type PrefixCacheOptions, SimulatedEngine } from "#sim";

/** What the demo sends: a prompt, and whether it is worked off at once. */
export interface DemoPrompt {
  tokens: Uint32Array;
  isWarmUp: boolean;
}

/** The engines' processes, as the dashboard reads them from their registrations. */
const INCARNATION = `demo-process-${process.pid}`;

/** Blocks as xLLM has them, and tiers that the demo's traffic overfills, so that they offload and evict. */
const CACHE: PrefixCacheOptions = {
  blockSize: 128,
  deviceBlocksMax: 192,
  hostBlocksMax: 256,
  chainSeed: BigInt(process.pid) << 32n,
  offloadForm: "without-tokens",
};

/** Pause between two looks at what waits. */
const ROUND_MS = 20;

/** As often as xLLM's engines. */
const HEARTBEAT_MS = 500;

/** What a prompt takes: this long, and longer for each token that must be computed. */
const PROMPT_MS = 120;
const TOKEN_MS = 0.12;

const [number, url = ""] = process.argv.slice(2);
const { api } = createClient(url, { internalApiToken: process.env.WARMPATH_INTERNAL_API_TOKEN ?? "" });
const name = `engine-${number}:8000`;
const engine = new SimulatedEngine({ name, cache: CACHE });
const door = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("alive") });
const waiting: Uint32Array[] = [];
let busyUntilMs = 0;

process.on("disconnect", () => process.exit(0));
process.on("message", ({ tokens, isWarmUp }: DemoPrompt) => {
  if (isWarmUp) engine.step([tokens]);
  else waiting.push(tokens);
  process.send?.({ batchSeq: engine.batchSeq });
});

setInterval(work, ROUND_MS);
await register();
setInterval(sendHeartbeat, HEARTBEAT_MS);
await sendHeartbeat();

function work(): void {
  engine.serve();
  const nowMs = performance.now();
  if (nowMs < busyUntilMs) return;
  const tokens = waiting.shift();
  if (tokens === undefined) return;
  const { cachedTokens } = engine.step([tokens]);
  busyUntilMs = nowMs + PROMPT_MS + (tokens.length - cachedTokens) * TOKEN_MS;
}

async function register(): Promise<void> {
  const { stream } = engine;
  const { error } = await api.v1.instances.post({
    name,
    address: `127.0.0.1:${door.port}`,
    engine: stream.engine,
    incarnation_id: INCARNATION,
    block_size: stream.blockSize,
    topic: stream.topic,
    event_endpoints: [stream.endpoint],
    replay_endpoints: [stream.replayEndpoint],
  });
  if (error) throw new Error(`Cannot register: Warmpath answered ${error.status}`);
}

async function sendHeartbeat(): Promise<void> {
  const isBusy = performance.now() < busyUntilMs;
  const load = {
    waiting_requests_num: waiting.length + Number(isBusy),
    gpu_cache_usage_perc: engine.cache.deviceBlocks / CACHE.deviceBlocksMax,
  };
  const { error } = await api.v1.internal.heartbeat.post({ name, incarnation_id: INCARNATION, load_metrics: load });
  // It was taken out of the fleet.
  if (error?.status === 409) await register();
  else if (error) throw new Error(`Cannot send a heartbeat: Warmpath answered ${error.status}`);
}

/**
 * `bun run traffic -- [--warmpath URL] [--requests-per-second N]`: chat clients for simulated engines. Each prompt goes where Warmpath
 * sends it; now and then a line tells how much of them the engines had cached.
 */

import { parseArgs } from "node:util";
import { createClient } from "warmpath/client";
import { createLogger } from "#base";
import { chatTraffic, SMALL_SITE } from "#sim";
import { completePrompt } from "./engine/send-prompt.ts";

/** Prompts under way; beyond, the next waits for its turn in the second after. */
const UNDER_WAY_MAX = 64;

const REPORT_MS = 10_000;

const { warmpath: url, "requests-per-second": rate } = parseArgs({
  options: {
    warmpath: { type: "string", default: "http://127.0.0.1:8888" },
    "requests-per-second": { type: "string", default: "4" },
  },
}).values;
if (URL.parse(url) === null || !(Number(rate) > 0 && Number(rate) <= 1000)) {
  console.error("Cannot send traffic: --warmpath URL and --requests-per-second from above 0 to 1000 are needed");
  process.exit(2);
}

const logger = createLogger();
const client = createClient(url, { internalApiToken: process.env.WARMPATH_INTERNAL_API_TOKEN ?? "" });
const prompts = chatTraffic(SMALL_SITE);
const sums = { requests: 0, promptTokens: 0, cachedTokens: 0, failed: 0 };
let underWay = 0;
let trouble = "";

setInterval(report, REPORT_MS);
setInterval(() => {
  if (underWay < UNDER_WAY_MAX) send(prompts.next().value);
}, 1000 / Number(rate));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));

async function send(prompt: Uint32Array): Promise<void> {
  underWay += 1;
  try {
    const { data, error } = await client.route(new Uint32Array(prompt), { explain: false });
    if (error) throw new Error(error.value.detail);
    const { address } = data.prefill;
    const usage = await completePrompt(address, prompt);
    sums.requests += 1;
    sums.promptTokens += usage.prompt_tokens;
    sums.cachedTokens += usage.prompt_tokens_details.cached_tokens;
  } catch (error) {
    sums.failed += 1;
    trouble = error instanceof Error ? error.message : String(error);
  } finally {
    underWay -= 1;
  }
}

function report(): void {
  const { requests, promptTokens, cachedTokens, failed } = sums;
  const cachedShare = promptTokens === 0 ? 0 : Number((cachedTokens / promptTokens).toFixed(3));
  logger.info("Traffic", { requests, cached_share: cachedShare, failed, ...(failed > 0 && { reason: trouble }) });
  Object.assign(sums, { requests: 0, promptTokens: 0, cachedTokens: 0, failed: 0 });
}

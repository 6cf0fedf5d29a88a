/**
 * A program that asks where a prompt should go: `bun scripts/example-routing.ts [URL [token id …]]`. The token is taken from
 * WARMPATH_INTERNAL_API_TOKEN.
 */

import { createClient } from "warmpath/client";

const [baseUrl = "http://127.0.0.1:8888", ...tokenIds] = process.argv.slice(2);
const warmpath = createClient(baseUrl, { internalApiToken: process.env.WARMPATH_INTERNAL_API_TOKEN ?? "" });

const { data: decision, error } = await warmpath.route(Uint32Array.from(tokenIds, Number), { explain: false });
if (error) {
  console.error(`${error.status}: ${error.value.detail}`);
  process.exit(1);
}
const { address, kv_hit_ratio: hitRatio } = decision.prefill;
console.log(`${address} holds ${Math.round(100 * hitRatio)} % of the prompt`);
// Here the request is sent to that address; then Warmpath is told how it fares.
await warmpath.api.v1.route({ id: decision.request_id }).finished.post({ phase: "decode" });
